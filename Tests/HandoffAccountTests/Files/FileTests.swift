import HandoffAccount
import HandoffCrypto
import HandoffModel
import Testing

/// What every kind of file promises: written bytes are read as they were, and anything else is refused by name.
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
            case .boot: return BootFile.encode(1234).exposedCopy()
            case .account: return try FileTests.state().encoded().exposedCopy()
            case .export:
                var founder = try Member.founder()
                return try TicketTests.export(&founder).encoded().exposedCopy()
            }
        }

        /// Reads a file, and gives what it would write again.
        func reread(_ bytes: [UInt8]) throws(FileError) -> [UInt8] {
            let file = SecretBytes(copying: bytes)
            switch self {
            case .identity: return IdentityFile.encode(seed: try IdentityFile.decode(file)).exposedCopy()
            case .boot: return BootFile.encode(try BootFile.decode(file)).exposedCopy()
            case .account: return try AccountState(decoding: file).encoded().exposedCopy()
            case .export: return try AccountFile(decoding: file).encoded().exposedCopy()
            }
        }
    }

    /// A state with all its parts.
    static func state() throws -> AccountState {
        var founder = try Member.founder()
        var second = try founder.pair(1)
        founder.state = try founder.state.makingEpoch(by: founder.key, now: 7)
        _ = try TicketTests.export(&founder)
        try second.meet(&founder)
        return founder.state
    }

    @Test(arguments: Kind.allCases)
    func `a file is read as it was written`(_ kind: Kind) throws {
        let bytes = try kind.make()
        #expect(try kind.reread(bytes) == bytes)
    }

    @Test(arguments: Kind.allCases)
    func `a file that ends anywhere before its end, or goes on, is refused`(_ kind: Kind) throws {
        let bytes = try kind.make()
        for count in bytes.indices {
            #expect(throws: FileError.self) { try kind.reread(Array(bytes.prefix(count))) }
        }
        #expect(throws: FileError.wrongLength(expected: bytes.count, actual: bytes.count + 1)) {
            try kind.reread(bytes + [0])
        }
    }

    @Test(arguments: Kind.allCases)
    func `a file with any byte changed is refused`(_ kind: Kind) throws {
        let bytes = try kind.make()
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= UInt8(1 << (index % 8))
            #expect(throws: FileError.self) { try kind.reread(damaged) }
        }
    }

    @Test(arguments: Kind.allCases)
    func `a content that is wrong in itself never traps, even with a right checksum`(_ kind: Kind) throws {
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
            // Refused, or read into something that can be written and read again; what must not happen is a trap.
            if let once = try? kind.reread(file + SHA256.hash(Array(file))) {
                let isStable = try kind.reread(once) == once
                #expect(isStable, "round \(round)")
            }
        }
    }

    @Test
    func `a file of another kind, of a later version or form is named as such`() throws {
        let boot = try Kind.boot.make()
        #expect(throws: FileError.notSuchAFile) { try Kind.identity.reread(boot) }
        var later = Array(boot.dropLast(32))
        later[9] = 2
        #expect(throws: FileError.unknownVersion(2)) { try Kind.boot.reread(later + SHA256.hash(later)) }
        var sealed = Array(try Kind.export.make().dropLast(32))
        sealed[11] = 2
        #expect(throws: FileError.unknownForm(2)) { try Kind.export.reread(sealed + SHA256.hash(sealed)) }
    }

    @Test
    func `an account survives its file with keys and exports`() throws {
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
    func `a device that is joining has its ticket in its file until it has the account key`() throws {
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
    func `a start gets a number above the last one, and the clock's if that is greater`(
        _ stored: UInt64?, _ now: UInt64, _ next: UInt64
    ) {
        #expect(BootFile.next(stored: stored, now: now) == next)
    }

    @Test
    func `a peer's word raises the number, unless it would use the numbers up`() {
        #expect(BootFile.raised(current: 5, seen: 5) == nil)
        #expect(BootFile.raised(current: 5, seen: 9) == 10)
        #expect(BootFile.raised(current: 5, seen: 1 << 62) == nil)
        #expect(BootFile.raised(current: 5, seen: .max) == nil)
    }
}
