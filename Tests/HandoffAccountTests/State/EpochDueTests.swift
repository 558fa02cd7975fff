import HandoffAccount
import HandoffCrypto
import HandoffModel
import Testing

@Suite struct EpochDueTests {
    static let day: UInt64 = 24 * 60 * 60

    @Test
    func `no epoch is due while one is in force`() throws {
        let founder = try Member.founder()
        #expect(founder.state.epochDue(for: founder.id, now: Member.start) == nil)
    }

    @Test
    func `without an epoch, members wait by their rank, at most ten seconds`() throws {
        var founder = try Member.founder()
        var members = [founder]
        for number in 1...24 { members.append(try founder.pair(number)) }
        // A removal without an epoch, as after two concurrent removals.
        let removal = try Statement.sign(
            .remove(subject: Fingerprint(members[24].id), keeps: []), accountID: founder.state.accountID,
            with: founder.key)
        let state = try founder.state.merging([removal]).state
        let waits = try members.prefix(24).map(\.id).sorted().map { device in
            try #require(state.epochDue(for: device, now: Member.start)).after
        }
        #expect(waits.prefix(3) == [.zero, .milliseconds(500), .seconds(1)])
        #expect(waits[20] == .seconds(10))
        #expect(waits[23] == .seconds(10))
        #expect(state.epochDue(for: members[24].id, now: Member.start) == nil)
    }

    @Test
    func `an epoch is renewed after thirty days and up to three more, by the device's own clock`() throws {
        let founder = try Member.founder()
        func due(_ days: UInt64) -> EpochDue? {
            founder.state.epochDue(for: founder.id, now: Member.start + days * Self.day)
        }
        #expect(due(29) == nil)
        #expect(due(34)?.reason == .old)
        #expect(founder.state.epochDue(for: founder.id, now: 0) == nil, "renewed although the clock was set back")
    }

    @Test
    func `a key that no device sends is replaced`() throws {
        var founder = try Member.founder()
        var guest = try founder.pair(1)
        founder.state = try founder.state.makingEpoch(by: founder.key, now: 0)
        guest.state = try guest.state.merging(founder.state.roster.ordered).state
        #expect(guest.state.epochDue(for: guest.id, now: 0) == nil)
        let waiting = guest.state.epochDue(for: guest.id, now: 0, keyAwaited: .seconds(1))
        #expect(waiting?.reason == .withheld)
        #expect(try #require(waiting).after >= .seconds(29))
        #expect(guest.state.epochDue(for: guest.id, now: 0, keyAwaited: .seconds(60))?.after == .zero)
        guest.state = try guest.state.makingEpoch(by: guest.key, now: 0)
        try founder.meet(&guest)
        #expect(founder.state.isCurrent)
        #expect(founder.state.epoch == 3)
    }

    @Test
    func `when two removals keep different devices, the current key is replaced`() throws {
        var founder = try Member.founder()
        var second = try founder.pair(1)
        var thief = try founder.pair(2)
        let accomplice = try thief.pair(3)
        try founder.meet(&thief)
        try second.meet(&thief)
        founder.state = try founder.state.removing(thief.id, keeping: [accomplice.id], by: founder.key, now: 0)
        second.state = try second.state.removing(thief.id, keeping: [], by: second.key, now: 0)
        #expect(founder.state.keyToHandOver(to: accomplice.id) != nil)

        let merge = try founder.state.merging(second.state.roster.ordered)
        #expect(merge.left == [accomplice.id])
        let due = merge.state.epochDue(for: founder.id, now: 0)
        // If the second one's record is greater, the accomplice never had its key.
        #expect(due?.reason == (merge.hasNewEpoch ? nil : .exposed))
        let renewed = try merge.state.makingEpoch(by: founder.key, now: 0)
        #expect(renewed.epochDue(for: founder.id, now: 0) == nil)
    }
}
