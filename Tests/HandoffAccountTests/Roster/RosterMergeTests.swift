import HandoffAccount
import HandoffCrypto
import HandoffModel
import Testing

@Suite struct RosterMergeTests {
    let account: TestAccount

    init() throws {
        account = try TestAccount()
    }

    @Test
    func `one wrong signature prevents the whole merge`() throws {
        var roster = try account.roster()
        let digest = roster.digest
        var bytes = try account.add(2, by: 0).encoded
        bytes[bytes.count - 1] ^= 1
        let offer = [try account.add(1, by: 0), try Statement(decoding: bytes)]
        #expect(throws: StatementError.signature(of: Fingerprint(try TestKeys.device(0)))) {
            try roster.merge(offer)
        }
        #expect(roster.digest == digest)
        #expect(try roster.view.liveNumbers() == [0])
    }

    @Test
    func `a statement of another account prevents the whole merge`() throws {
        var roster = try account.roster()
        let foreign = try TestAccount(nonce: 8)
        #expect(throws: StatementError.foreignAccount(foreign.id)) {
            try roster.merge([account.add(1, by: 0), foreign.add(1, by: 0)])
        }
        #expect(try roster.view.liveNumbers() == [0])
    }

    @Test
    func `signers may follow the statements that they sign, and deep chains are handled`() throws {
        let chain = try (1..<200).map { try account.add($0, by: $0 - 1) }
        var roster = try account.roster()
        let result = try roster.merge(chain.reversed())
        #expect(result.refused.isEmpty)
        #expect(roster.view.live.count == 200)
    }

    @Test
    func `statements of unknown signers, and names of unknown devices, are refused and not stored`() throws {
        var roster = try account.roster()
        let orphans = [
            try account.add(2, by: 1), try account.name(5, "nobody", 1, by: 0), try account.use(100, for: 3),
        ]
        let result = try roster.merge(orphans)
        #expect(!result.hasChanged)
        #expect(result.refused.map(\.reason) == [.unknownKey, .unknownKey, .unknownKey])
        #expect(roster.ordered == [account.founding])
    }

    @Test
    func `statements in the roster are not checked again`() throws {
        let statement = try account.add(1, by: 0)
        var roster = try account.roster([statement])
        // The same text with another signature: checking it would make the merge throw.
        let copy = try Statement(decoding: statement.encoded.dropLast(64) + [UInt8](repeating: 0, count: 64))
        #expect(try !roster.merge([copy]).hasChanged)
    }

    @Test
    func `every prefix of the ordered list can be merged alone`() throws {
        var statements = try (1..<20).map { try account.add($0, by: $0 / 2) }
        statements += [try account.ticket(100, by: 3), try account.use(100, for: 30)]
        statements += [try account.name(19, "x", 1, by: 7), try account.remove(5, by: 6)]
        let roster = try account.roster(statements)
        var copy = try account.roster()
        for statement in roster.ordered {
            #expect(try copy.merge([statement]).refused.isEmpty)
        }
        #expect(copy.digest == roster.digest)
    }

    @Test
    func `a shortened introduction still makes its device a member`() throws {
        var statements = try (1..<50).map { try account.add($0, by: $0 - 1) }
        let member = try account.roster(statements)
        statements.append(try account.add(60, by: 49))
        let guest = try account.roster(statements + (1..<50).map { try account.name($0, "device \($0)", 1, by: 0) })
        let device = try TestKeys.device(60)
        let offer = guest.introduction(of: device, limit: 400)
        #expect(StatementList.encode(offer).count <= 400)
        var copy = member
        _ = try copy.merge(offer)
        #expect(copy.view.isLive(device))
        #expect(guest.introduction(of: device, limit: 512 * 1024).count == guest.ordered.count)
    }

    @Test
    func `encoding preserves a roster; one that is truncated or without a founder is rejected`() throws {
        let roster = try account.roster(account.oneOfEach())
        let read = try Roster(decoding: roster.encoded())
        #expect(read.digest == roster.digest)
        #expect(read.view == roster.view)
        #expect(throws: StatementError.noFounder) { try Roster(decoding: []) }
        let headless = StatementList.encode(roster.ordered.dropFirst())
        #expect(throws: StatementError.noFounder) { try Roster(decoding: headless) }
    }

    @Test
    func `the digest is the hash of the sorted ids`() throws {
        let roster = try account.roster(account.oneOfEach())
        let ids = roster.ordered.map(\.id).sorted().flatMap(\.bytes)
        #expect(roster.digest == SHA256.hash(ids))
        #expect(roster.shortDigest == Array(SHA256.hash(ids).prefix(8)))
    }
}
