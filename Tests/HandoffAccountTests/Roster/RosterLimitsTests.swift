import HandoffAccount
import HandoffModel
import Testing

@Suite struct RosterLimitsTests {
    let account: TestAccount

    init() throws {
        account = try TestAccount()
    }

    @Test
    func `a signer admits at most 64, and the limit report names it`() throws {
        var roster = try account.roster()
        let result = try roster.merge((1...65).map { try account.add($0, by: 0) })
        #expect(result.added.count == 64)
        #expect(result.refused.map(\.reason) == [.full(.admissions)])
        let founder = try TestKeys.device(0)
        #expect(result.complaints == ["account full, signer \(founder.short), limit admissions"])
    }

    @Test
    func `devices, tickets and uses count towards one limit, also for a ticket as the signer`() throws {
        var roster = try account.roster((1...32).map { try account.add($0, by: 0) })
        let result = try roster.merge((100...132).map { try account.ticket($0, by: 0) })
        #expect(result.added.count == 32)
        #expect(result.refused.map(\.reason) == [.full(.admissions)])
        // In order of arrival, so the first of them is known.
        let uses = try roster.merge((200...264).map { try account.use(100, for: $0) })
        #expect(uses.added.count == 64)
        #expect(uses.refused.map(\.reason) == [.full(.admissions)])
    }

    @Test
    func `the greatest possible numbers neither wrap nor trap`() throws {
        let view = try account.roster().view
        let statements = try [
            account.add(1, by: 0), account.epoch(.max, for: view, by: 1), account.epoch(.max - 1, for: view, by: 1),
            account.name(0, "spoof", .max, by: 1),
        ]
        var roster = try account.roster(statements)
        #expect(roster.view.currentEpoch?.n == .max)
        #expect(roster.view.names.values.map(\.self) == ["spoof"])
        // Both are dropped with their signer.
        _ = try roster.merge([account.remove(1, by: 0)])
        #expect(roster.view.currentEpoch == nil)
        #expect(roster.view.names.isEmpty)
    }

    @Test
    func `a second removal of one subject needs no room, and a third is dropped`() throws {
        var roster = try account.roster([account.add(1, by: 0), account.add(2, by: 1)])
        _ = try roster.merge((3...66).map { try account.remove($0, by: 1) })
        let again = try (2...9).map { try account.remove(3, keeping: [$0], by: 1) }
        #expect(try roster.merge(again).refused.isEmpty)
        let count = roster.ordered.count { statement in
            if case .remove(let subject, _) = statement.content { subject == Fingerprint(device(3)) } else { false }
        }
        #expect(count == 2)
    }

    private func device(_ number: Int) -> DeviceID {
        // Creating test keys cannot fail.
        (try? TestKeys.device(number)) ?? DeviceID(checked: [])
    }

    @Test
    func `an account knows at most 256 keys, including removed ones`() throws {
        // The founder, four guests, and 63 admitted by each of them: one too many.
        var statements = try (1...4).map { try account.add($0, by: 0) }
        for guest in 1...4 { statements += try (0..<63).map { try account.add(1000 * guest + $0, by: guest) } }
        statements += try (1...2).map { try account.remove($0, by: 3) }
        var roster = try account.roster(statements)
        let result = try roster.merge([account.add(9999, by: 3)])
        #expect(result.refused.map(\.reason) == [.full(.keys)])
        #expect(try roster.merge([account.add(9998, by: 3)]).refused.map(\.reason) == [.full(.keys)])
        #expect(try roster.merge([account.add(1000, by: 3)]).hasChanged, "a known key needs no room")
    }

    @Test
    func `a signer removes at most 64 subjects`() throws {
        var roster = try account.roster([account.add(1, by: 0)])
        let result = try roster.merge((2...66).map { try account.remove($0, by: 1) })
        #expect(result.added.count == 64)
        #expect(result.refused.map(\.reason) == [.full(.removals)])
    }

    @Test
    func `of the names by one signer for one device only the greatest is kept`() throws {
        var roster = try account.roster([account.name(0, "new", 5, by: 0)])
        #expect(try !roster.merge([account.name(0, "old", 4, by: 0)]).hasChanged)
        let result = try roster.merge([account.name(0, "newest", 6, by: 0), account.name(0, "between", 5, by: 0)])
        #expect(result.added.count == 1)
        #expect(roster.ordered.count == 2)
        #expect(roster.view.names.values.map(\.self) == ["newest"])
    }

    @Test
    func `names made obsolete by a greater one in the same offer are not checked`() throws {
        let forged = try account.name(0, "old", 5, by: 0).encoded.dropLast(64) + [UInt8](repeating: 0, count: 64)
        var roster = try account.roster()
        let result = try roster.merge([Statement(decoding: Array(forged)), account.name(0, "new", 6, by: 0)])
        #expect(result.added.count == 1)
        #expect(roster.view.names.values.map(\.self) == ["new"])
    }

    @Test
    func `of the reserved kinds by one signer the 16 greatest ids are kept, in any order, without effect`() throws {
        let before = try account.roster([account.add(1, by: 0)])
        let statements = try (0..<40).map { try account.reserved([$0], by: 1) }.sorted { $0.id < $1.id }
        let kept = statements.suffix(16).map(\.id)
        for order in [statements, statements.reversed()] {
            var roster = before
            for statement in order { _ = try roster.merge([statement]) }
            #expect(roster.ordered.filter { $0.content.kind == .reserved }.map(\.id) == kept)
            #expect(roster.view == before.view && roster.digest != before.digest)
            #expect(roster.byteCount == before.byteCount + 16 * statements[0].encodedCount)
            #expect(try Roster(decoding: roster.encoded()).digest == roster.digest)
        }
    }

    @Test
    func `a reserved kind signed by an unknown device or by a ticket is refused`() throws {
        var roster = try account.roster([account.ticket(100, by: 0)])
        let result = try roster.merge([account.reserved([1], by: 9), account.reserved([1], by: 100)])
        #expect(result.refused.map(\.reason) == [.unknownKey, .unknownKey])
        #expect(!result.hasChanged)
    }

    @Test
    func `a reserved kind with a wrong signature invalidates the whole list`() throws {
        var roster = try account.roster()
        let bytes = try account.reserved([1], by: 0).encoded
        let forged = try Statement(decoding: bytes.dropLast(64) + [UInt8](repeating: 0, count: 64))
        #expect(throws: StatementError.self) { try roster.merge([account.add(1, by: 0), forged]) }
        #expect(roster.ordered.count == 1)
    }

    @Test
    func `of the epoch records by one signer the greatest is kept, and the others are not checked`() throws {
        let view = try account.roster().view
        var records = try (1...20).map { try account.epoch($0, for: view, by: 0) }
        let forged = records[3].encoded.dropLast(64) + [UInt8](repeating: 0, count: 64)
        records[3] = try Statement(decoding: Array(forged))
        var roster = try account.roster(records.reversed())
        #expect(roster.ordered.count == 2)
        #expect(roster.view.currentEpoch?.n == 20)
        #expect(try !roster.merge([records[3]]).hasChanged)
    }

    @Test
    func `epoch records that name other removals are dropped, and accepted again with those removals`() throws {
        let base = try [account.add(1, by: 0), account.add(2, by: 0)]
        let before = try account.roster(base)
        let old = try account.epoch(7, for: before.view, by: 1)
        let removal = try account.remove(2, by: 0)
        let new = try account.epoch(1, for: account.roster(base + [removal]).view, by: 1)
        var early = try account.roster(base + [old, new])
        #expect(early.view.currentEpoch?.id == old.id)
        #expect(try early.merge([removal]).dropped.map(\.id) == [old.id])
        #expect(early.view.currentEpoch == nil)
        _ = try early.merge([old, new])
        #expect(early.view.currentEpoch?.id == new.id)
        #expect(try early.digest == account.roster([new, old, removal] + base).digest)
    }

    @Test
    func `pruning commutes with merging: parts in any order and grouping give one set`() throws {
        let view = try account.roster().view
        var statements = try (1...3).map { try account.add($0, by: 0) }
        for signer in 0...3 {
            statements += try (1...12).map { try account.epoch(UInt32($0), for: view, by: signer, key: UInt8($0)) }
            statements += try (1...5).map { try account.name(1, "name \($0)", UInt32($0 / 2), by: signer) }
            statements += try (1...5).map { try account.remove(50, keeping: [$0], by: signer) }
        }
        let whole = try account.roster(statements)
        var random = SplitMix(seed: 3)
        for _ in 0..<30 {
            statements.shuffle(using: &random)
            let cut = Int.random(in: 0...statements.count, using: &random)
            // Each part includes the admissions, which every device has, so no part depends on
            // another.
            let admissions = Array(whole.ordered.prefix(4))
            var left = try account.roster(admissions + statements[..<cut])
            let right = try account.roster(admissions + statements[cut...])
            _ = try left.merge(right)
            #expect(left.digest == whole.digest)
            #expect(left.view == whole.view)
            #expect(left.byteCount == whole.byteCount)
        }
    }

    @Test
    func `when the bytes are exhausted, only a removal and its epoch still fit`() throws {
        // 64 removals of 8 KiB by each of 16 signers are 8.1 MiB.
        let ids = (0..<256).map { Fingerprint(hashing: [UInt8($0)]) }.sorted()
        var roster = try account.roster((1...17).map { try account.add($0, by: 0) })
        for signer in 1...16 {
            let removals = try (0..<64).map { number in
                try account.sign(.remove(subject: ids[number], keeps: ids), by: signer)
            }
            _ = try roster.merge(removals)
        }
        let room = RosterLimits.bytes - roster.byteCount
        #expect(room < Statement.maxEncodedCount, "the byte limit was not reached by the sixteen signers")
        let filler = Array(ids.prefix((room - 147) / 32))
        #expect(try roster.merge([account.sign(.remove(subject: ids[0], keeps: filler), by: 17)]).hasChanged)
        #expect(try roster.merge([account.add(30, by: 0)]).refused.map(\.reason) == [.full(.bytes)])
        for number in 1...8 {
            let removal = try account.sign(.remove(subject: ids[number], keeps: ids), by: 0)
            #expect(try roster.merge([removal]).hasChanged)
        }
        let ninth = try account.sign(.remove(subject: ids[9], keeps: ids), by: 0)
        #expect(try roster.merge([ninth]).refused.map(\.reason) == [.full(.bytes)])
        #expect(try roster.merge([account.epoch(1, for: roster.view, by: 17)]).hasChanged)
    }
}
