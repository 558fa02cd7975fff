import HandoffAccount
import HandoffCrypto
import HandoffModel
import Testing

/// The contract of every kind of file: a written file is read back unchanged, and anything else is
/// rejected with a specific error.
@Suite struct FileTests {
    enum Kind: String, CaseIterable {
        case identity
        case boot
        case account
        case export

        /// A small but complete file.
        func make() throws -> [UInt8] {
            switch self {
            case .identity: return IdentityFile.encode(seed: SecretBytes(copying: Array(1...32))).exposedCopy()
            case .boot: return GenerationFile.encode(1234).exposedCopy()
            case .account: return try FileTests.state().encoded().exposedCopy()
            case .export:
                var founder = try Member.founder()
                return try TicketTests.export(&founder).encoded().exposedCopy()
            }
        }

        /// Decodes a file and encodes the result.
        func reread(_ bytes: [UInt8]) throws(FileError) -> [UInt8] {
            let file = SecretBytes(copying: bytes)
            switch self {
            case .identity: return IdentityFile.encode(seed: try IdentityFile.decode(file)).exposedCopy()
            case .boot: return GenerationFile.encode(try GenerationFile.decode(file)).exposedCopy()
            case .account: return try AccountState(decoding: file).encoded().exposedCopy()
            case .export: return try AccountFile(decoding: file).encoded().exposedCopy()
            }
        }
    }

    /// Creates a state with all its parts.
    static func state() throws -> AccountState {
        var founder = try Member.founder()
        var second = try founder.pair(1)
        founder.state = try founder.state.makingEpoch(by: founder.key, now: 7)
        _ = try TicketTests.export(&founder)
        try second.meet(&founder)
        return founder.state
    }

    @Test(arguments: Kind.allCases)
    func `a file is read back as written`(_ kind: Kind) throws {
        let bytes = try kind.make()
        #expect(try kind.reread(bytes) == bytes)
    }

    @Test(arguments: Kind.allCases)
    func `a file that is truncated or too long is rejected`(_ kind: Kind) throws {
        let bytes = try kind.make()
        for count in bytes.indices {
            #expect(throws: FileError.self) { try kind.reread(Array(bytes.prefix(count))) }
        }
        #expect(throws: FileError.wrongLength(expected: bytes.count, actual: bytes.count + 1)) {
            try kind.reread(bytes + [0])
        }
    }

    @Test(arguments: Kind.allCases)
    func `a file with any byte changed is rejected`(_ kind: Kind) throws {
        let bytes = try kind.make()
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= UInt8(1 << (index % 8))
            #expect(throws: FileError.self) { try kind.reread(damaged) }
        }
    }

    @Test(arguments: Kind.allCases)
    func `invalid content never traps, even with a right checksum`(_ kind: Kind) throws {
        var random = SplitMix(seed: 5)
        let bytes = try kind.make()
        let content = Array(bytes[16..<(bytes.count - 32)])
        for round in 0..<400 {
            var changed = content
            switch round % 3 {
            case 0: changed = Array(content.prefix(Int.random(in: 0..<content.count, using: &random)))
            case 1: changed[Int.random(in: changed.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            default: changed = random.bytes(Int.random(in: 0..<64, using: &random))
            }
            let length = UInt32(changed.count)
            let prefix = bytes.prefix(12) + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
            let file = prefix + changed
            // Rejected, or decoded into a state that can be encoded and decoded again. It must not
            // trap.
            if let once = try? kind.reread(file + SHA256.hash(Array(file))) {
                let isStable = try kind.reread(once) == once
                #expect(isStable, "round \(round)")
            }
        }
    }

    @Test
    func `a file of another kind, a later version or another form is identified as such`() throws {
        let boot = try Kind.boot.make()
        #expect(throws: FileError.wrongMagic) { try Kind.identity.reread(boot) }
        var later = Array(boot.dropLast(32))
        later[9] = 2
        #expect(throws: FileError.unknownVersion(2)) { try Kind.boot.reread(later + SHA256.hash(later)) }
        var sealed = Array(try Kind.export.make().dropLast(32))
        sealed[11] = 2
        #expect(throws: FileError.unknownForm(2)) { try Kind.export.reread(sealed + SHA256.hash(sealed)) }
    }

    @Test
    func `encoding an account preserves its keys and exports`() throws {
        let state = try Self.state()
        let read = try AccountState(decoding: state.encoded())
        #expect(read.view == state.view)
        #expect(read.roster.digest == state.roster.digest)
        #expect(read.held?.record == state.held?.record)
        #expect(read.held?.since == 7)
        #expect(read.accountKey == state.accountKey)
        #expect(read.held?.keys.gate == state.held?.keys.gate)
        #expect(read.exports == state.exports)
        #expect(read.exports.count == 1)
    }

    @Test
    func `the file of a joining device contains its ticket until the device has the account key`() throws {
        var founder = try Member.founder()
        var guest = try TicketTests.importing(TicketTests.export(&founder), 5)
        let read = try AccountState(decoding: guest.state.encoded())
        #expect(read.ticketSeed == guest.state.ticketSeed && read.ticketSeed != nil)
        #expect(read.held == nil)
        try TicketTests.introduce(&guest, to: &founder)
        #expect(guest.state.ticketSeed == nil && guest.state.isCurrent)
    }

    @Test(
        arguments: [(nil, 100, 100), (50, 100, 100), (100, 100, 101), (200, 100, 201), (.max, 100, .max), (nil, 0, 1)]
            as [(UInt64?, UInt64, UInt64)])
    func `a start gets a number above the last one, and the clock's time if that is greater`(
        _ stored: UInt64?, _ now: UInt64, _ next: UInt64
    ) {
        #expect(GenerationFile.next(stored: stored, now: now) == next)
    }

    @Test
    func `a peer's report raises the number, unless it would exhaust the range`() {
        #expect(GenerationFile.raised(current: 5, seen: 5) == nil)
        #expect(GenerationFile.raised(current: 5, seen: 9) == 10)
        #expect(GenerationFile.raised(current: 5, seen: 1 << 62) == nil)
        #expect(GenerationFile.raised(current: 5, seen: .max) == nil)
    }
}
