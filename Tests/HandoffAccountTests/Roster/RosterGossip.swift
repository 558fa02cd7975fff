import HandoffAccount
import HandoffCrypto
import HandoffModel

/// Devices that admit, remove, export, name and back-date at random, and exchange statements at
/// random: a network with partitions.
struct RosterGossip {
    private let account: TestAccount
    private var random: SplitMix
    private var replicas: [Roster]
    private var ticketCount = 0
    /// Files that no device has imported, each with its roster.
    private var files: [(ticket: Int, roster: Roster)] = []
    /// Number of devices that were not admitted although their file was valid for the member.
    private(set) var wronglyRefused = 0
    private var nameCount: UInt32 = 0

    /// Maximum number of devices, so that removals and conflicts are frequent.
    private static let maxDevices = 9
    private static let firstTicket = 100

    /// Plays `steps` random steps.
    init(seed: UInt64, steps: Int = 60) throws {
        account = try TestAccount()
        random = SplitMix(seed: seed)
        replicas = [try account.roster()]
        for _ in 0..<steps { try step() }
    }

    private mutating func step() throws {
        let number = Int.random(in: replicas.indices, using: &random)
        let device = try TestKeys.device(number)
        let act = random.fraction()
        if replicas[number].view.isLive(device) {
            try actLive(number, act)
        } else if act < 0.2 {
            // A removed or void device signs statements that it is no longer allowed to sign.
            let victim = Int.random(in: replicas.indices, using: &random)
            try join(by: number, statements: [account.add(replicas.count, by: number)])
            try add(account.remove(victim, by: number), at: number)
        }
        if replicas[number].view.isLive(device), replicas[number].view.currentEpoch == nil {
            try add(epoch(by: number, in: replicas[number]), at: number)
        }
        try exchange(number, Int.random(in: replicas.indices, using: &random))
    }

    private mutating func actLive(_ number: Int, _ act: Double) throws {
        let view = replicas[number].view
        switch act {
        case ..<0.15:
            guard replicas.count < Self.maxDevices else { return }
            try join(by: number, statements: [account.add(replicas.count, by: number)])
        case ..<0.25:
            let live = try view.liveNumbers()
            guard let victim = live.randomElement(using: &random) else { return }
            // Sometimes others are removed with the victim, so that two removals of one device keep
            // different ones.
            let isPicky = Int.random(in: 0..<3, using: &random) == 0
            let kept = live.filter { $0 != victim && !(isPicky && Bool.random(using: &random)) }
            try add(account.remove(victim, keeping: kept, by: number), at: number)
        case ..<0.35:
            let ticket = Self.firstTicket + ticketCount
            ticketCount += 1
            let use = try account.use(ticket, for: replicas.count)
            try join(by: number, statements: [account.ticket(ticket, by: number), use])
            guard Int.random(in: 0..<4, using: &random) == 0 else { return }
            // The file was copied, and another device has used it elsewhere.
            replicas.append(replicas[number])
            try add(account.use(ticket, for: replicas.count - 1), at: replicas.count - 1)
        case ..<0.40:
            // A file that is imported much later by a device that has only the file's roster.
            let ticket = Self.firstTicket + ticketCount
            ticketCount += 1
            try add(account.ticket(ticket, by: number), at: number)
            files.append((ticket, replicas[number]))
        case ..<0.47:
            guard let file = files.indices.randomElement(using: &random) else { return }
            let (ticket, roster) = files.remove(at: file)
            let guest = replicas.count
            guard guest < Self.maxDevices + 4 else { return }
            replicas.append(roster)
            try add(account.use(ticket, for: guest), at: guest)
            try introduce(guest, to: number, ticket)
        case ..<0.52:
            guard let ticket = view.openTickets.randomElement(using: &random) else { return }
            let users = ticket.users.count == 1 ? ticket.users.map { Fingerprint($0) } : []
            try add(account.sign(.remove(subject: ticket.id, keeps: users), by: number), at: number)
        case ..<0.58:
            guard let subject = try view.liveNumbers().randomElement(using: &random) else { return }
            // Counters repeat, so that the id decides.
            nameCount += UInt32.random(in: 0...1, using: &random)
            try add(account.name(subject, "name \(random.fraction())", nameCount, by: number), at: number)
        case ..<0.63:
            // More than the limit per signer, so that some are displaced.
            for _ in 0..<6 {
                try add(account.reserved(random.bytes(Int.random(in: 0...9, using: &random)), by: number), at: number)
            }
        default:
            return
        }
    }

    /// A member admits a device that has imported a file, and closes the ticket in the same write,
    /// as daemons do. A ticket that is open and unused for the member admits, whatever epochs,
    /// removals and other files were created meanwhile.
    private mutating func introduce(_ guest: Int, to number: Int, _ ticket: Int) throws {
        let id = Fingerprint(ticket: try TestKeys.key(ticket).publicKey)
        let isGood = replicas[number].view.openTickets.contains { $0.id == id && $0.users.isEmpty }
        let device = try TestKeys.device(guest)
        var union = replicas[number]
        _ = try union.merge(replicas[guest])
        guard union.view.isLive(device) else {
            if isGood { wronglyRefused += 1 }
            return
        }
        replicas[number] = union
        if union.view.openTickets.contains(where: { $0.id == id }) {
            try add(account.sign(.remove(subject: id, keeps: [Fingerprint(device)]), by: number), at: number)
        }
        replicas[guest] = replicas[number]
    }

    /// Adds a device with the statements of `number` after adding those that admit it.
    private mutating func join(by number: Int, statements: [Statement]) throws {
        for statement in statements { try add(statement, at: number) }
        replicas.append(replicas[number])
    }

    private mutating func add(_ statement: Statement, at number: Int) throws {
        _ = try replicas[number].merge([statement])
    }

    /// Gives both the union.
    private mutating func exchange(_ left: Int, _ right: Int) throws {
        var union = replicas[left]
        _ = try union.merge(replicas[right])
        replicas[left] = union
        replicas[right] = union
    }

    private mutating func epoch(by number: Int, in roster: Roster) throws -> Statement {
        let greatest = roster.ordered.compactMap { statement in
            if case .epoch(let n, _, _) = statement.content { n } else { nil }
        }.max()
        return try account.epoch(
            1 + (greatest ?? 0), for: roster.view, by: number, key: UInt8.random(in: 0...255, using: &random))
    }

    /// The union of all rosters, and whether five random orders with random partial merges give the
    /// same view and digest.
    mutating func union() throws -> (roster: Roster, isOneView: Bool) {
        var union = replicas[0]
        for replica in replicas { _ = try union.merge(replica) }
        var isOneView = true
        for _ in 0..<5 {
            replicas.shuffle(using: &random)
            var other = replicas[0]
            for replica in replicas {
                // Only a part first, then the rest, as when a connection breaks.
                guard Bool.random(using: &random) else { continue }
                let statements = replica.ordered
                let part = statements.prefix(Int.random(in: 1...statements.count, using: &random))
                // As a trusted roster, to skip the signature checks, which are not under test.
                _ = try other.merge(Roster(decoding: StatementList.encode(part), isTrusted: true))
            }
            for replica in replicas { _ = try other.merge(replica) }
            isOneView = isOneView && other.view == union.view && other.digest == union.digest
            isOneView = isOneView && other.byteCount == union.byteCount
        }
        return (union, isOneView)
    }

    /// Lets all live devices create epochs concurrently, in rounds, until one is in force.
    mutating func settle(_ roster: inout Roster) throws -> Int {
        var rounds = 0
        while !roster.view.live.isEmpty, roster.view.currentEpoch == nil, rounds < 5 {
            let before = roster
            for number in try before.view.liveNumbers() { _ = try roster.merge([epoch(by: number, in: before)]) }
            rounds += 1
        }
        return rounds
    }
}
