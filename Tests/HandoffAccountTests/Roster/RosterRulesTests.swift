import HandoffAccount
import HandoffCrypto
import HandoffModel
import Testing

/// The rules on small accounts. Devices are numbered by their keys: 0 is the founder, 100 and up
/// are tickets.
@Suite struct RosterRulesTests {
    let account: TestAccount

    init() throws {
        account = try TestAccount()
    }

    func live(_ statements: [Statement]) throws -> [Int] {
        try account.roster(statements).view.liveNumbers()
    }

    /// The founder and three devices that it admitted.
    func base() throws -> [Statement] {
        try [1, 2, 3].map { try account.add($0, by: 0) }
    }

    @Test
    func `two devices that remove each other are both removed, and the others remain`() throws {
        let crossed = [
            try account.remove(1, keeping: [], by: 2), try account.remove(2, keeping: [], by: 1),
        ]
        #expect(try live(base() + crossed) == [0, 3])
    }

    @Test
    func `what a removed device admits without the remover's knowledge is void, whenever it was signed`() throws {
        let removal = try account.remove(2, keeping: [0, 1, 3], by: 1)
        #expect(try live(base() + [removal, account.add(4, by: 2)]) == [0, 1, 3])
        #expect(try live(base() + [account.add(4, by: 2), removal]) == [0, 1, 3])
    }

    @Test
    func `a device kept by the remover stays, with all devices that it admitted`() throws {
        let statements =
            try base() + [
                account.add(4, by: 2), account.add(5, by: 4), account.remove(2, keeping: [4], by: 1),
            ]
        #expect(try live(statements) == [0, 1, 3, 4, 5])
    }

    @Test
    func `of several removals, only devices kept by all stay`() throws {
        let statements =
            try base() + [
                account.add(4, by: 2), account.add(5, by: 2), account.remove(2, keeping: [4, 5], by: 1),
                account.remove(2, keeping: [5], by: 3),
            ]
        #expect(try live(statements) == [0, 1, 3, 5])
    }

    @Test
    func `the founder may be removed; devices that it admitted stay if kept`() throws {
        #expect(try live(base() + [account.remove(0, keeping: [1, 2, 3], by: 1)]) == [1, 2, 3])
        #expect(try live(base() + [account.remove(0, keeping: [], by: 1)]) == [])
    }

    @Test
    func `a removed key is never admitted again`() throws {
        #expect(try live(base() + [account.remove(2, by: 1), account.add(2, by: 3)]) == [0, 1, 3])
    }

    @Test
    func `a void device can be admitted again by a member`() throws {
        let statements = try base() + [account.add(4, by: 2), account.remove(2, by: 1), account.add(4, by: 3)]
        #expect(try live(statements) == [0, 1, 3, 4])
    }

    @Test
    func `a ticket admits one device`() throws {
        let ticket = try account.ticket(100, by: 0)
        #expect(try live([ticket, account.use(100, for: 4)]) == [0, 4])
    }

    @Test
    func `two users of one ticket cancel each other`() throws {
        let statements = [
            try account.ticket(100, by: 0), try account.use(100, for: 4), try account.use(100, for: 5),
        ]
        let view = try account.roster(statements).view
        #expect(try view.liveNumbers() == [0])
        #expect(try view.openTickets.map(\.users) == [[TestKeys.device(4), TestKeys.device(5)].sorted()])
    }

    @Test
    func `a closed ticket admits no device after the kept one`() throws {
        let statements = [
            try account.ticket(100, by: 0), try account.use(100, for: 4),
            try account.removeTicket(100, keeping: [4], by: 0), try account.use(100, for: 5),
        ]
        let view = try account.roster(statements).view
        #expect(try view.liveNumbers() == [0, 4])
        #expect(view.openTickets.isEmpty)
    }

    @Test
    func `a ticket that was closed unused admits no device`() throws {
        let statements = [
            try account.ticket(100, by: 0), try account.removeTicket(100, by: 0), try account.use(100, for: 5),
        ]
        #expect(try live(statements) == [0])
    }

    @Test
    func `a ticket can only be used: other statements signed by its key have no known signer`() throws {
        var roster = try account.roster([account.ticket(100, by: 0)])
        let result = try roster.merge([account.add(4, by: 100), account.remove(0, by: 100)])
        #expect(result.refused.map(\.reason) == [.unknownKey, .unknownKey])
        #expect(try roster.view.liveNumbers() == [0])
    }

    @Test
    func `a device admitted by the ticket of a removed member stays if the ticket is kept`() throws {
        let statements =
            try base() + [
                account.ticket(100, by: 2), account.use(100, for: 4), account.removeTicket(100, keeping: [4], by: 1),
            ]
        let view = try account.roster(statements).view
        let removed = try TestKeys.device(2)
        let guest = try TestKeys.device(4)
        #expect(view.admitted(by: removed) == [guest])
        let keeps = view.keeps(removing: removed, keeping: [guest])
        #expect(try keeps == [Fingerprint(ticket: TestKeys.key(100).publicKey)])
        let removal = try account.sign(.remove(subject: Fingerprint(removed), keeps: keeps), by: 1)
        #expect(try live(statements + [removal]) == [0, 1, 3, 4])
    }

    @Test
    func `the open ticket of a removed member is void`() throws {
        let statements =
            try base() + [
                account.ticket(100, by: 2), account.remove(2, by: 1), account.use(100, for: 4),
            ]
        let view = try account.roster(statements).view
        #expect(try view.liveNumbers() == [0, 1, 3])
        #expect(view.openTickets.isEmpty)
    }

    @Test
    func `a second removal of one subject by one signer cannot readmit a device`() throws {
        // Device 1 removed 2 and was then removed itself. One attacker now has both keys and admits
        // 4.
        let honest = try base() + [account.remove(2, keeping: [], by: 1), account.remove(1, keeping: [], by: 0)]
        for number in 4..<30 {  // Some have a greater id than the honest removal, some a smaller one.
            let comeback = [
                try account.remove(2, keeping: [number], by: 1), try account.add(number, by: 2),
            ]
            #expect(try live(honest + comeback) == [0, 3])
            #expect(try live(comeback + honest) == [0, 3])
        }
    }

    @Test
    func `the name with the greatest counter by a live device wins; a spoof ends with its author`() throws {
        let statements =
            try base() + [
                account.name(1, "laptop", 1, by: 1), account.name(1, "laptop 2", 2, by: 0),
                account.name(1, "spoof", .max, by: 2),
            ]
        let device = try TestKeys.device(1)
        #expect(try account.roster(statements).view.names[device] == "spoof")
        #expect(try account.roster(statements + [account.remove(2, by: 0)]).view.names[device] == "laptop 2")
    }

    @Test
    func `an epoch counts while its signer is live and the removed devices are those it names`() throws {
        let start = try account.roster(base())
        let first = try account.epoch(1, for: start.view, by: 1)
        let second = try account.epoch(2, for: start.view, by: 2)
        #expect(try account.roster(base() + [first, second]).view.currentEpoch?.id == second.id)
        let removed = try account.roster(base() + [first, second, account.remove(3, by: 0)])
        #expect(removed.view.currentEpoch == nil)
        let third = try account.epoch(2, for: removed.view, by: 1)
        #expect(try account.roster(removed.ordered + [third]).view.currentEpoch?.id == third.id)
    }

    @Test
    func `of two epochs with one number the greater id wins, in any order`() throws {
        let view = try account.roster(base()).view
        let pair = [try account.epoch(5, for: view, by: 1), try account.epoch(5, for: view, by: 2)]
        let greater = pair.map(\.id).max()
        #expect(try account.roster(base() + pair).view.currentEpoch?.id == greater)
        #expect(try account.roster(base() + pair.reversed()).view.currentEpoch?.id == greater)
    }

    @Test
    func `a hostile epoch number vanishes with its signer`() throws {
        let view = try account.roster(base()).view
        let hostile = try account.epoch(.max, for: view, by: 2)
        let roster = try account.roster(base() + [hostile])
        #expect(roster.view.currentEpoch?.n == .max)
        let after = try account.roster(roster.ordered + [account.remove(2, by: 0)])
        #expect(after.view.currentEpoch == nil)
        let next = try account.epoch(1, for: after.view, by: 0)
        #expect(try account.roster(after.ordered + [next]).view.currentEpoch?.n == 1)
    }
}
