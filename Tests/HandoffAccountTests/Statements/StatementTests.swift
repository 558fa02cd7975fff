import HandoffAccount
import HandoffCrypto
import HandoffModel
import Testing

@Suite struct StatementTests {
    @Test
    func `encoding preserves every kind and its id, and it is genuine`() throws {
        for statement in try TestAccount().oneOfEach() {
            let read = try Statement(decoding: statement.encoded)
            #expect(read.id == statement.id)
            #expect(read.content == statement.content)
            #expect(read.signature == statement.signature)
            #expect(read.isGenuine)
            #expect(statement.encoded.count == statement.encodedCount)
        }
    }

    @Test
    func `a statement that is truncated or too long is rejected`() throws {
        for statement in try TestAccount().oneOfEach() {
            let bytes = statement.encoded
            for count in bytes.indices {
                #expect(throws: StatementError.layout) { try Statement(decoding: Array(bytes.prefix(count))) }
            }
            #expect(throws: StatementError.layout) { try Statement(decoding: bytes + [0]) }
        }
    }

    @Test
    func `any changed bit makes the layout or the signature wrong`() throws {
        for statement in try TestAccount().oneOfEach() {
            for index in statement.encoded.indices {
                var bytes = statement.encoded
                bytes[index] ^= 1 << UInt8(index % 8)
                guard let read = try? Statement(decoding: bytes) else { continue }
                #expect(!read.isGenuine, "\(statement.content.kind) byte \(index)")
            }
        }
    }

    @Test
    func `random bytes are rejected or read, and never trap`() throws {
        var random = SplitMix(seed: 1)
        for round in 0..<20_000 {
            var bytes = random.bytes(Int.random(in: 0..<220, using: &random))
            // A valid kind in most rounds, so that the fields are reached.
            let kinds: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 128, 255]
            if !bytes.isEmpty, round % 4 != 0 { bytes[0] = kinds.randomElement(using: &random) ?? 1 }
            if let statement = try? Statement(decoding: bytes) {
                #expect(statement.encoded == bytes)
            }
            _ = try? StatementList.decode(bytes)
        }
    }

    @Test(arguments: [(128, 0), (128, 512), (200, 7), (255, 1)] as [(UInt8, Int)])
    func `a reserved kind is opaque, and signed like any other`(kind: UInt8, count: Int) throws {
        let content = StatementContent.reserved(kind: kind, fields: [UInt8](repeating: 9, count: count))
        let statement = try TestAccount().sign(content, by: 0)
        #expect(statement.isGenuine && statement.encoded.first == kind && statement.encodedCount == 113 + count)
        let read = try Statement(decoding: statement.encoded)
        #expect(read.content == content && read.id == statement.id && read.admitted == nil)
        #expect(throws: StatementError.layout) { try Statement(decoding: Array(statement.encoded.prefix(112))) }
    }

    @Test(arguments: [0, 8, 127] as [UInt8])
    func `kinds below the reserved ones are invalid`(kind: UInt8) throws {
        var bytes = try TestAccount().sign(.reserved(kind: 128, fields: []), by: 0).encoded
        bytes[0] = kind
        #expect(throws: StatementError.layout) { try Statement(decoding: bytes) }
    }

    @Test func `the fields of a reserved kind have at most 512 bytes`() throws {
        #expect(throws: StatementError.layout) {
            try TestAccount().sign(.reserved(kind: 128, fields: [UInt8](repeating: 0, count: 513)), by: 0)
        }
    }

    @Test
    func `a removal lists each kept key once, in order, and at most as many as an account can know`() throws {
        let account = try TestAccount()
        let keys = (0..<300).map { Fingerprint(hashing: [UInt8($0 % 256), UInt8($0 / 256)]) }.sorted()
        let subject = keys[0]
        func sign(_ keeps: [Fingerprint]) throws -> Statement {
            try account.sign(.remove(subject: subject, keeps: keeps), by: 0)
        }
        #expect(throws: StatementError.layout) { try sign([keys[2], keys[1]]) }
        #expect(throws: StatementError.layout) { try sign([keys[1], keys[1]]) }
        #expect(throws: StatementError.layout) { try sign(Array(keys.prefix(257))) }
        #expect(try sign(Array(keys.prefix(256))).encodedCount == Statement.maxEncodedCount)
    }

    @Test(arguments: ["", String(repeating: "é", count: 33)])
    func `a name has 1 to 64 bytes of UTF-8, and keeps its composition`(_ name: String) throws {
        let account = try TestAccount()
        #expect(throws: StatementError.layout) { try account.name(0, name, 1, by: 0) }
    }

    @Test
    func `a name is bytes: composed and decomposed forms differ`() throws {
        let account = try TestAccount()
        let composed = try account.name(0, "\u{e9}", 1, by: 0)
        let decomposed = try account.name(0, "e\u{301}", 1, by: 0)
        #expect(composed.id != decomposed.id)
    }

    @Test
    func `invalid UTF-8 in a name is rejected, not repaired`() throws {
        var bytes = try TestAccount().name(0, "abc", 1, by: 0).encoded
        bytes[bytes.count - Statement.signatureCount - 1] = 0xFF
        #expect(throws: StatementError.layout) { try Statement(decoding: bytes) }
    }

    @Test
    func `a signature without the domain of statements is not genuine`() throws {
        let statement = try TestAccount().add(1, by: 0)
        let canonical = Array(statement.encoded.dropLast(Statement.signatureCount))
        let raw = try TestKeys.key(0).sign(canonical)
        #expect(try !Statement(decoding: canonical + raw).isGenuine)
    }

    @Test
    func `the account id binds the founder and the nonce`() throws {
        let account = try TestAccount()
        let other = try Statement.sign(
            .found(nonce: [UInt8](repeating: 9, count: 16)), accountID: account.id, with: TestKeys.key(0))
        #expect(!other.isGenuine)
        let foreign = try Statement.sign(
            .found(nonce: [UInt8](repeating: 7, count: 16)), accountID: account.id, with: TestKeys.key(1))
        #expect(!foreign.isGenuine)
    }

    @Test
    func `a device and a ticket of one key have two ids`() throws {
        let key = try TestKeys.key(5).publicKey
        #expect(Fingerprint(ticket: key) != Fingerprint(DeviceID(key)))
    }
}

extension Statement {
    static var signatureCount: Int { PublicKey.signatureCount }
}
