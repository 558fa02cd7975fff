import HandoffAccount
import HandoffCrypto
import HandoffModel
import Testing

/// The life of an exported file, as it is told at `AccountState.exportingTicket`.
@Suite struct TicketTests {
    static let now = Member.start

    static func export(_ member: inout Member) throws -> AccountFile {
        let export = try member.state.exportingTicket(by: member.key, now: now)
        member.state = export.state
        return try AccountFile(decoding: export.file.encoded())
    }

    static func importing(_ file: AccountFile, _ number: Int) throws -> Member {
        let key = try TestKeys.key(number)
        return Member(key: key, state: try AccountState.importing(file, device: key, name: "new", now: now))
    }

    @Test("a device that imports is live at once, with its own identity and the key")
    func importsOffline() throws {
        var founder = try Member.founder()
        let guest = try Self.importing(Self.export(&founder), 5)
        #expect(guest.state.view.isLive(guest.id))
        #expect(guest.state.isCurrent)
        #expect(guest.state.ticketsDue(for: guest.id, now: Self.now + 2 * 86_400) == [], "it never closes its own")
    }

    @Test("the first member that meets it closes the ticket, and hands over the new key")
    func closing() throws {
        var founder = try Member.founder()
        let file = try Self.export(&founder)
        #expect(founder.state.ticketsDue(for: founder.id, now: Self.now) == [])
        var guest = try Self.importing(file, 5)

        let merge = try #require(try founder.state.admits(guest.key.publicKey, with: guest.state.roster.ordered))
        founder.state = merge.state
        let due = founder.state.ticketsDue(for: founder.id, now: Self.now)
        #expect(due == founder.state.view.openTickets.map(\.id))
        for ticket in due { founder.state = try founder.state.closingTicket(ticket, by: founder.key, now: Self.now) }
        #expect(founder.state.epoch == 2)
        #expect(founder.state.exports == [])
        try founder.meet(&guest)
        #expect(guest.state.isCurrent)
        #expect(guest.state.view.isLive(guest.id))
        #expect(guest.state.formerEpochs.map(\.n) == [1], "it finds those who have not heard of the new epoch")

        let late = try Self.importing(file, 6)
        #expect(try founder.state.admits(late.key.publicKey, with: late.state.roster.ordered) == nil)
        let after = try founder.state.merging(late.state.roster.ordered)
        #expect(!after.state.view.isLive(late.id))
        #expect(after.state.view.isLive(guest.id), "a replay does not harm the device that was kept")
    }

    @Test("a file that was used twice before it was closed admits nobody, and closing keeps nobody")
    func usedTwice() throws {
        var founder = try Member.founder()
        let file = try Self.export(&founder)
        let guests = [try Self.importing(file, 5), try Self.importing(file, 6)]
        founder.state = try founder.state.merging(guests[0].state.roster.ordered).state
        let merge = try founder.state.merging(guests[1].state.roster.ordered)
        #expect(merge.left == [guests[0].id])
        founder.state = merge.state
        #expect(founder.state.view.openTickets.first?.users.count == 2)
        for ticket in founder.state.ticketsDue(for: founder.id, now: Self.now) {
            founder.state = try founder.state.closingTicket(ticket, by: founder.key, now: Self.now)
        }
        #expect(founder.state.view.live == [founder.id])
        #expect(founder.state.view.openTickets.isEmpty)
    }

    @Test("two members that close one ticket at once keep the device, and agree on an epoch")
    func closedTwice() throws {
        var founder = try Member.founder()
        var second = try founder.pair(1)
        let file = try Self.export(&founder)
        try founder.meet(&second)
        var guest = try Self.importing(file, 5)
        for number in 0...1 {
            var member = number == 0 ? founder : second
            member.state = try member.state.merging(guest.state.roster.ordered).state
            for ticket in member.state.ticketsDue(for: member.id, now: Self.now) {
                member.state = try member.state.closingTicket(ticket, by: member.key, now: Self.now)
            }
            if number == 0 { founder = member } else { second = member }
        }
        try founder.meet(&second)
        #expect(founder.state.view == second.state.view)
        #expect(founder.state.view.isLive(guest.id))
        try founder.meet(&guest)
        try second.meet(&guest)
        #expect(guest.state.isCurrent)
    }

    @Test("an unused file is closed by its exporter after a day", arguments: [(86_399, false), (86_400, true)])
    func expires(_ age: UInt64, _ isDue: Bool) throws {
        var founder = try Member.founder()
        var second = try founder.pair(1)
        let file = try Self.export(&founder)
        try founder.meet(&second)
        let due = founder.state.ticketsDue(for: founder.id, now: Self.now + age)
        #expect(due.isEmpty == !isDue)
        #expect(second.state.ticketsDue(for: second.id, now: Self.now + age) == [], "only its exporter counts the time")
        guard let ticket = due.first else { return }
        founder.state = try founder.state.closingTicket(ticket, by: founder.key, now: Self.now + age)
        #expect(founder.state.epoch == 2)
        #expect(founder.state.ticketsDue(for: founder.id, now: Self.now + age) == [])
        let late = try Self.importing(file, 5)
        #expect(try founder.state.admits(late.key.publicKey, with: late.state.roster.ordered) == nil)
    }

    @Test("a file is of no use to a device that was removed")
    func removedDevice() throws {
        var founder = try Member.founder()
        let guest = try founder.pair(1)
        founder.state = try founder.state.removing(guest.id, keeping: [], by: founder.key, now: Self.now)
        let file = try Self.export(&founder)
        #expect(throws: AccountError.removedForEver(guest.id)) { try Self.importing(file, 1) }
    }

    @Test("a device without the key in force cannot export")
    func noKey() throws {
        var founder = try Member.founder()
        var guest = try founder.pair(1)
        founder.state = try founder.state.makingEpoch(by: founder.key, now: Self.now)
        guest.state = try guest.state.merging(founder.state.roster.ordered).state
        let state = guest.state
        #expect(throws: AccountError.noCurrentKey) { try state.exportingTicket(by: guest.key, now: Self.now) }
    }

    @Test("of two files the second is outdated once the first was used, and its ticket stays open")
    func outdated() throws {
        var founder = try Member.founder()
        let first = try Self.export(&founder)
        _ = try Self.export(&founder)
        #expect(founder.state.exports.map(founder.state.isOutdated) == [false, false])
        let guest = try Self.importing(first, 5)
        founder.state = try founder.state.merging(guest.state.roster.ordered).state
        for ticket in founder.state.ticketsDue(for: founder.id, now: Self.now) {
            founder.state = try founder.state.closingTicket(ticket, by: founder.key, now: Self.now)
        }
        #expect(founder.state.exports.map(founder.state.isOutdated) == [true])
        #expect(founder.state.view.openTickets.map(\.id) == founder.state.exports.map(\.ticket))
        let read = try AccountState(decoding: founder.state.encoded())
        #expect(read.exports.map(read.isOutdated) == [true], "also after a start")
    }

    @Test("a member that has not heard of the new epoch admits with an outdated file, and the device stays")
    func admittedByAnOutdatedFile() throws {
        var founder = try Member.founder()
        var second = try founder.pair(1)
        let file = try Self.export(&founder)
        try founder.meet(&second)
        founder.state = try founder.state.makingEpoch(by: founder.key, now: Self.now)
        #expect(founder.state.exports.map(founder.state.isOutdated) == [true])

        let guest = try Self.importing(file, 5)
        second.state = try #require(
            try second.state.admits(guest.key.publicKey, with: guest.state.roster.ordered)
        ).state
        for ticket in second.state.ticketsDue(for: second.id, now: Self.now) {
            second.state = try second.state.closingTicket(ticket, by: second.key, now: Self.now)
        }
        try founder.meet(&second)
        for member in [founder, second] { #expect(member.state.view.isLive(guest.id)) }
    }

    @Test("a revocation keeps nobody, also not the one whom another member keeps at the same time")
    func revoking() throws {
        var founder = try Member.founder()
        var second = try founder.pair(1)
        let file = try Self.export(&founder)
        try founder.meet(&second)
        let guest = try Self.importing(file, 5)
        let ticket = try #require(founder.state.view.openTickets.first?.id)
        second.state = try second.state.merging(guest.state.roster.ordered).state
        second.state = try second.state.closingTicket(ticket, by: second.key, now: Self.now)
        #expect(second.state.view.isLive(guest.id))

        founder.state = try founder.state.revokingTicket(ticket, by: founder.key, now: Self.now)
        #expect(founder.state.epoch == 2)
        try founder.meet(&second)
        for member in [founder, second] { #expect(!member.state.view.isLive(guest.id)) }
        #expect(throws: AccountError.noSuchTicket) {
            try founder.state.revokingTicket(ticket, by: founder.key, now: Self.now)
        }
        #expect(throws: AccountError.admittedByTicket) {
            try guest.state.revokingTicket(ticket, by: guest.key, now: Self.now)
        }
    }

    @Test("a device that came by a file knows whether it is confirmed, was one of two, or came in vain")
    func standing() throws {
        var founder = try Member.founder()
        #expect(founder.state.standing(of: founder.id) == .member)
        let file = try Self.export(&founder)
        var guest = try Self.importing(file, 5)
        var rival = try Self.importing(file, 6)
        #expect(guest.state.standing(of: guest.id) == .unconfirmed)

        let alone = guest.state
        guest.state = try guest.state.merging(rival.state.roster.ordered).state
        #expect(guest.state.standing(of: guest.id) == .fileUsedTwice)
        #expect(guest.state.standing(of: founder.id) == .member)

        founder.state = try founder.state.merging(alone.roster.ordered).state
        let ticket = try #require(founder.state.view.openTickets.first?.id)
        founder.state = try founder.state.closingTicket(ticket, by: founder.key, now: Self.now)
        guest.state = try alone.merging(founder.state.roster.ordered).state
        rival.state = try rival.state.merging(founder.state.roster.ordered).state
        #expect(guest.state.standing(of: guest.id) == .member)
        #expect(rival.state.standing(of: rival.id) == .fileClosed)
    }
}
