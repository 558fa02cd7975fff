import HandoffCrypto
import HandoffModel
import Testing

@testable import HandoffAccount

/// The life cycle of an exported file, as described in `AccountState+Tickets.swift`.
@Suite struct TicketTests {
    static let now = Member.start

    static func export(_ member: inout Member) throws -> AccountFile {
        let export = try member.state.exportingTicket(by: member.key, now: now)
        member.state = export.state
        return try AccountFile(decoding: export.file.encoded())
    }

    static func importing(_ file: AccountFile, _ number: Int) throws -> Member {
        let key = try TestKeys.key(number)
        return Member(key: key, state: try AccountState.importing(file, device: key, name: "new"))
    }

    /// A member admits a device and sends it the key.
    static func introduce(_ guest: inout Member, to member: inout Member) throws {
        let made = try member.state.introducing(
            guest.key.publicKey, with: guest.state.roster.ordered, by: member.key)
        member.state = try #require(made)
        try member.meet(&guest)
    }

    @Test
    func `a device that imports a file has no key, can find members, and creates no epoch`() throws {
        var founder = try Member.founder()
        let guest = try Self.importing(Self.export(&founder), 5)
        #expect(guest.state.standing(of: guest.id) == .joining)
        #expect(guest.state.accountKey == nil && guest.state.ticketSeed != nil)
        #expect(guest.state.epochDue(for: guest.id, now: Self.now, keyAwaited: .seconds(60)) == nil)
        #expect(guest.state.ticketsDue(for: guest.id, now: Self.now + 2 * 86_400) == [], "it closes its own ticket")
    }

    @Test
    func `the admitting member closes the ticket in the same write and sends the current key`() throws {
        var founder = try Member.founder()
        let file = try Self.export(&founder)
        #expect(founder.state.ticketsDue(for: founder.id, now: Self.now) == [])
        var guest = try Self.importing(file, 5)
        try Self.introduce(&guest, to: &founder)
        #expect(founder.state.view.openTickets.isEmpty && founder.state.exports == [])
        #expect(founder.state.epoch == 1, "closing a ticket ended the epoch")
        #expect(guest.state.isCurrent && guest.state.ticketSeed == nil)
        #expect(guest.state.standing(of: guest.id) == .member)

        let late = try Self.importing(file, 6)
        #expect(
            try founder.state.introducing(late.key.publicKey, with: late.state.roster.ordered, by: founder.key) == nil)
        let after = try founder.state.merging(late.state.roster.ordered)
        #expect(!after.state.view.isLive(late.id))
        #expect(after.state.view.isLive(guest.id), "a replay removed the kept device")
    }

    @Test
    func `every file is valid, in any order, across other files, new keys and removals`() throws {
        var founder = try Member.founder()
        var second = try founder.pair(1)
        let third = try founder.pair(2)
        let files = try (0..<4).map { _ in try Self.export(&founder) }
        try founder.meet(&second)
        for (number, file) in files.enumerated().reversed() {
            founder.state = try founder.state.makingEpoch(by: founder.key, now: Self.now)
            if number == 2 {
                founder.state = try founder.state.removing(third.id, keeping: [], by: founder.key, now: Self.now)
            }
            try founder.meet(&second)
            var guest = try Self.importing(file, 10 + number)
            if number.isMultiple(of: 2) {
                try Self.introduce(&guest, to: &founder)
            } else {
                try Self.introduce(&guest, to: &second)
            }
            #expect(guest.state.isCurrent, "file \(number)")
            try founder.meet(&second)
        }
        #expect(founder.state.view.live.count == 6)
        #expect(founder.state.view.openTickets.isEmpty)
    }

    @Test
    func `a ticket used at another member is closed in turn if that member has not closed it`() throws {
        var founder = try Member.founder()
        var second = try founder.pair(1)
        let file = try Self.export(&founder)
        try founder.meet(&second)
        let guest = try Self.importing(file, 5)
        let states = try [founder, second].map { try $0.state.merging(guest.state.roster.ordered).state }
        let ticket = try #require(states[0].view.openTickets.first?.id)
        for (member, state) in zip([founder, second], states) {
            let rank = try #require(state.view.rank(of: member.id))
            #expect(
                state.ticketsDue(for: member.id, now: Self.now)
                    == [TicketDue(ticket: ticket, after: .seconds(2) + .milliseconds(500) * rank)])
        }
    }

    @Test
    func `a file that was used twice before it was closed admits no device, and closing keeps none`() throws {
        var founder = try Member.founder()
        let file = try Self.export(&founder)
        let guests = [try Self.importing(file, 5), try Self.importing(file, 6)]
        founder.state = try founder.state.merging(guests[0].state.roster.ordered).state
        let merge = try founder.state.merging(guests[1].state.roster.ordered)
        #expect(merge.left == [guests[0].id])
        founder.state = merge.state
        // The first one may have received the key.
        #expect(founder.state.epochDue(for: founder.id, now: Self.now)?.reason == .exposed)
        #expect(founder.state.view.openTickets.first?.users.count == 2)
        for due in founder.state.ticketsDue(for: founder.id, now: Self.now) {
            founder.state = try founder.state.closingTicket(due.ticket, by: founder.key)
        }
        #expect(founder.state.view.live == [founder.id])
        #expect(founder.state.view.openTickets.isEmpty)
    }

    @Test
    func `two members that close one ticket concurrently keep the device`() throws {
        var founder = try Member.founder()
        var second = try founder.pair(1)
        let file = try Self.export(&founder)
        try founder.meet(&second)
        let guest = try Self.importing(file, 5)
        var copy = guest
        var other = guest
        try Self.introduce(&copy, to: &founder)
        try Self.introduce(&other, to: &second)
        try founder.meet(&second)
        #expect(founder.state.view == second.state.view)
        #expect(founder.state.view.isLive(guest.id))
        #expect(copy.state.isCurrent && other.state.isCurrent)
    }

    @Test(arguments: [(86_399, false), (86_400, true)])
    func `an unused file is closed by its exporter after a day`(_ age: UInt64, _ isDue: Bool) throws {
        var founder = try Member.founder()
        var second = try founder.pair(1)
        let file = try Self.export(&founder)
        try founder.meet(&second)
        let due = founder.state.ticketsDue(for: founder.id, now: Self.now + age)
        #expect(due.isEmpty == !isDue)
        #expect(second.state.ticketsDue(for: second.id, now: Self.now + age) == [], "another member closes the ticket")
        guard let due = due.first else { return }
        #expect(due.after == .zero)
        founder.state = try founder.state.closingTicket(due.ticket, by: founder.key)
        #expect(founder.state.epoch == 1)
        #expect(founder.state.ticketsDue(for: founder.id, now: Self.now + age) == [])
        let late = try Self.importing(file, 5)
        #expect(try founder.state.admits(late.key.publicKey, with: late.state.roster.ordered) == nil)
    }

    @Test
    func `a removed device cannot use a file`() throws {
        var founder = try Member.founder()
        let guest = try founder.pair(1)
        founder.state = try founder.state.removing(guest.id, keeping: [], by: founder.key, now: Self.now)
        let file = try Self.export(&founder)
        #expect(throws: AccountError.removedPermanently(guest.id)) { try Self.importing(file, 1) }
    }

    @Test
    func `a device that waits for the current key can export, because the file contains no key`() throws {
        var founder = try Member.founder()
        var second = try founder.pair(1)
        founder.state = try founder.state.makingEpoch(by: founder.key, now: Self.now)
        second.state = try second.state.merging(founder.state.roster.ordered).state
        #expect(!second.state.isCurrent)
        var guest = try Self.importing(Self.export(&second), 5)
        try founder.meet(&second)
        try Self.introduce(&guest, to: &founder)
        #expect(guest.state.isCurrent)
    }

    @Test
    func `a revocation keeps no device, not even one that another member keeps concurrently`() throws {
        var founder = try Member.founder()
        var second = try founder.pair(1)
        let file = try Self.export(&founder)
        try founder.meet(&second)
        var guest = try Self.importing(file, 5)
        let ticket = try #require(founder.state.view.openTickets.first?.id)
        try Self.introduce(&guest, to: &second)
        #expect(second.state.view.isLive(guest.id))

        founder.state = try founder.state.revokingTicket(ticket, by: founder.key, now: Self.now)
        #expect(founder.state.epoch == 1, "the ticket was unused as far as the founder knows")
        let merge = try second.state.merging(founder.state.roster.ordered)
        #expect(merge.left == [guest.id])
        // The guest has the key.
        #expect(merge.state.epochDue(for: second.id, now: Self.now)?.reason == .exposed)
        try founder.meet(&second)
        for member in [founder, second] { #expect(!member.state.view.isLive(guest.id)) }
        #expect(throws: AccountError.noSuchTicket) {
            try founder.state.revokingTicket(ticket, by: founder.key, now: Self.now)
        }
        let fresh = try Self.importing(Self.export(&founder), 6)
        let own = try #require(fresh.state.view.openTickets.first { $0.users == [fresh.id] }?.id)
        #expect(throws: AccountError.admittedByTicket) {
            try fresh.state.revokingTicket(own, by: fresh.key, now: Self.now)
        }
    }

    @Test
    func `a revocation that excludes a member creates a new epoch in the same write`() throws {
        var founder = try Member.founder()
        let guest = try Self.importing(Self.export(&founder), 5)
        founder.state = try founder.state.merging(guest.state.roster.ordered).state
        let ticket = try #require(founder.state.view.openTickets.first?.id)
        founder.state = try founder.state.revokingTicket(ticket, by: founder.key, now: Self.now)
        #expect(!founder.state.view.isLive(guest.id))
        #expect(founder.state.epoch == 2 && founder.state.isCurrent)
    }

    @Test
    func `a device that used a file knows whether another used it too, or whether it was closed`() throws {
        var founder = try Member.founder()
        #expect(founder.state.standing(of: founder.id) == .member)
        let file = try Self.export(&founder)
        var guest = try Self.importing(file, 5)
        var rival = try Self.importing(file, 6)
        #expect(guest.state.standing(of: guest.id) == .joining)

        let alone = guest.state
        guest.state = try guest.state.merging(rival.state.roster.ordered).state
        #expect(guest.state.standing(of: guest.id) == .fileUsedTwice)
        #expect(guest.state.standing(of: founder.id) == .joining)

        guest.state = alone
        try Self.introduce(&guest, to: &founder)
        rival.state = try rival.state.merging(founder.state.roster.ordered).state
        #expect(guest.state.standing(of: guest.id) == .member)
        #expect(rival.state.standing(of: rival.id) == .fileClosed)
    }
}
