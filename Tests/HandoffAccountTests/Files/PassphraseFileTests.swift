import HandoffAccount
import HandoffCrypto
import Testing

/// An account file that a passphrase protects.
@Suite struct PassphraseFileTests {
    private let file: AccountFile
    private let passphrase = secret("open sesame")

    init() throws {
        var founder = try Member.founder()
        file = try TicketTests.export(&founder)
    }

    private static func secret(_ text: String) -> SecretBytes {
        SecretBytes(copying: Array(text.utf8))
    }

    /// What Python's hashlib and cryptography make of the same: `Tests/Peer/handoff_checks.py` does it again.
    @Test("a file with a given salt has the bytes of docs/protocol.md")
    func vector() throws {
        let roster = try TestAccount().roster()
        let content =
            Array(repeatElement([0, 0, 0, 100] as [UInt8], count: 8).joined())
            + [0, 0, 0, 0, 0, 0, 0, 1] + [UInt8](repeating: 1, count: 32) + roster.encoded()
        let clear = Array("hndf-exp".utf8) + [0, 1, 0, 0, 0, 0, 0, UInt8(content.count)] + content
        let file = try AccountFile(decoding: SecretBytes(copying: clear + SHA256.hash(clear)))

        let sealed = try file.encoded(
            passphrase: Self.secret("correct horse 🐎 battery staple"), salt: Array(0..<16)
        ).exposedCopy()

        #expect(
            hex(sealed.prefix(64)) == """
                686e64662d65787000010001000000eb000102030405060708090a0b0c0d0e0f\
                7c1c24f93909fddd48bfcaccdad4eb40410180efc82a06b3b79c0634610bc693
                """)
        #expect(
            hex(SHA256.hash(sealed)[...]) == "53031438f25d27a8bb675f08c5def66d24023758bfae171a68941ea3d758a6b6")
    }

    private func hex(_ bytes: ArraySlice<UInt8>) -> String {
        bytes.map { byte in
            let digits = String(byte, radix: 16)
            return byte < 16 ? "0" + digits : digits
        }.joined()
    }

    @Test("a file is read with its passphrase alone, and with the cost that every file has")
    func roundTrip() throws {
        let sealed = try file.encoded(passphrase: passphrase)
        let read = try AccountFile(decoding: sealed, passphrase: passphrase)
        #expect(read.ticketSeed == file.ticketSeed)
        #expect(read.accountKey == file.accountKey)
        #expect(read.n == file.n)
        #expect(read.roster.digest == file.roster.digest)
        #expect(throws: FileError.passphraseWrong) {
            try AccountFile(decoding: sealed, passphrase: passphrase, seal: .trivial)
        }
    }

    @Test("without the passphrase nothing in the file can be read, and no two files are alike")
    func hides() throws {
        let first = try file.encoded(passphrase: passphrase, seal: .trivial).exposedCopy()
        let second = try file.encoded(passphrase: passphrase, seal: .trivial).exposedCopy()
        #expect(first[16..<32] != second[16..<32])
        #expect(first[32...] != second[32...])
        for part in [file.ticketSeed.exposedCopy(), file.accountKey.exposedCopy(), file.roster.encoded()] {
            let beginning = Array(part.prefix(16))
            let occurs = first.indices.contains { first[$0...].starts(with: beginning) }
            #expect(!occurs)
        }
    }

    @Test(
        "a missing passphrase, a wrong one, and one too many are told apart",
        arguments: ["", "open sesam", "open sesame ", "Open sesame", "öpen sesame"])
    func otherPassphrase(_ text: String) throws {
        let sealed = try file.encoded(passphrase: passphrase, seal: .trivial)
        #expect(throws: text.isEmpty ? FileError.passphraseUnfit : FileError.passphraseWrong) {
            try AccountFile(decoding: sealed, passphrase: Self.secret(text), seal: .trivial)
        }
        #expect(throws: FileError.passphraseMissing) { try AccountFile(decoding: sealed) }
        let clear = try file.encoded()
        #expect(throws: FileError.notProtected) { try AccountFile(decoding: clear, passphrase: Self.secret(text)) }
    }

    @Test("a passphrase has 1 to 1,024 bytes", arguments: [(0, false), (1, true), (1024, true), (1025, false)])
    func length(_ count: Int, _ isFit: Bool) throws {
        let passphrase = SecretBytes(copying: [UInt8](repeating: 0x61, count: count))
        if isFit {
            let sealed = try file.encoded(passphrase: passphrase, seal: .trivial)
            #expect(try AccountFile(decoding: sealed, passphrase: passphrase, seal: .trivial).n == file.n)
        } else {
            #expect(throws: FileError.passphraseUnfit) { try file.encoded(passphrase: passphrase, seal: .trivial) }
        }
    }

    @Test("a file with any byte changed is refused, also when its checksum is made right again")
    func changed() throws {
        let bytes = try file.encoded(passphrase: passphrase, seal: .trivial).exposedCopy()
        for index in bytes.indices.dropLast(32) {
            var changed = Array(bytes.dropLast(32))
            changed[index] ^= UInt8(1 << (index % 8))
            let file = SecretBytes(copying: changed + SHA256.hash(changed))
            #expect(throws: FileError.self) {
                try AccountFile(decoding: file, passphrase: passphrase, seal: .trivial)
            }
        }
    }

    @Test("a file that is too short for salt and tag is no matter of the passphrase", arguments: [0, 15, 31])
    func short(_ count: Int) throws {
        let content = [UInt8](repeating: 0, count: count)
        let start = Array("hndf-exp".utf8) + [0, 1, 0, 1, 0, 0, 0, UInt8(count)] + content
        let file = SecretBytes(copying: start + SHA256.hash(start))
        #expect(throws: FileError.invalid("content is too short")) {
            try AccountFile(decoding: file, passphrase: passphrase)
        }
    }
}
