internal import HandoffCrypto
internal import HandoffModel

/// The four steps from statements to members, each needing only the ones before it, so that there can be no cycle.
///
/// 1. *known*: the founder, and all whom the known admit, removals ignored. A roster holds statements by the known only.
/// 2. *removed*: every subject of a removal.
/// 3. An admission counts if its signer is not removed, or if every removal of that signer keeps its subject. A ticket
///    with more than one counting use admits nobody.
/// 4. *live*: devices that are not removed, and reached from the founder over admissions that count. The founder may
///    itself be removed, and so may those on the way.
struct RosterRules {
    private(set) var deviceKeys: [DeviceID: PublicKey] = [:]
    private(set) var removed: Set<Fingerprint> = []
    private(set) var live: Set<DeviceID> = []
    private(set) var openTickets: [OpenTicket] = []
    private(set) var admissions: [Fingerprint: Set<Fingerprint>] = [:]
    /// By ticket: devices whose use of it counts.
    private(set) var users: [Fingerprint: Set<Fingerprint>] = [:]
    private(set) var epochs: [EpochRecord] = []
    private(set) var names: [Name] = []

    /// A name that a device was given.
    struct Name {
        let subject: DeviceID
        let signer: DeviceID
        let rank: RankedStatement
        let text: String
    }

    /// By subject: what each of its removers keeps.
    private var removals: [Fingerprint: [Fingerprint: Set<Fingerprint>]] = [:]
    private var tickets: [Fingerprint: (key: PublicKey, issuers: Set<Fingerprint>)] = [:]
    private var uses: [(ticket: Fingerprint, device: Fingerprint)] = []

    init(founder: PublicKey, statements: some Sequence<Statement>) {
        deviceKeys[DeviceID(founder)] = founder
        for statement in statements { collect(statement) }
        removed = Set(removals.keys)
        for use in uses where counts(admissionOf: use.device, by: use.ticket) {
            users[use.ticket, default: []].insert(use.device)
        }
        let reached = reach(from: Fingerprint(DeviceID(founder)))
        live = Set(deviceKeys.keys.filter { reached.contains(Fingerprint($0)) && !removed.contains(Fingerprint($0)) })
        openTickets = makeOpenTickets(reached)
    }

    /// Sorts one statement into what the steps read.
    private mutating func collect(_ statement: Statement) {
        let signer = statement.signerID
        switch statement.content {
        case .found, .reserved:
            break
        case .add(let key):
            let device = DeviceID(key)
            deviceKeys[device] = key
            admissions[signer, default: []].insert(Fingerprint(device))
        case .ticket(let key):
            let ticket = Fingerprint(ticket: key)
            tickets[ticket, default: (key, [])].issuers.insert(signer)
            admissions[signer, default: []].insert(ticket)
        case .use(let key):
            let device = DeviceID(key)
            deviceKeys[device] = key
            uses.append((signer, Fingerprint(device)))
        case .remove(let subject, let keeps):
            // A signer that removes one subject twice contradicts itself: nobody is kept. Taking either one would let a
            // removed device widen what it once kept, and bring an accomplice back.
            let isSecond = removals[subject]?[signer] != nil
            removals[subject, default: [:]][signer] = isSecond ? [] : Set(keeps)
        case .name(let subject, let counter, let text):
            let rank = RankedStatement(number: counter, id: statement.id)
            names.append(Name(subject: subject, signer: signer.device, rank: rank, text: text))
        case .epoch(let n, let removedDigest, let keyCommitment):
            epochs.append(
                EpochRecord(
                    id: statement.id, n: n, signer: signer.device, removedDigest: removedDigest,
                    keyCommitment: keyCommitment))
        }
    }

    /// Step 3: whether a statement by `signer` that admits `subject` still means something.
    private func counts(admissionOf subject: Fingerprint, by signer: Fingerprint) -> Bool {
        guard let removals = removals[signer] else { return true }
        return removals.values.allSatisfy { $0.contains(subject) }
    }

    /// Step 4, without taking the removed out: they may stand on the way to others.
    private func reach(from founder: Fingerprint) -> Set<Fingerprint> {
        var reached: Set<Fingerprint> = [founder]
        var frontier = [founder]
        while let next = frontier.popLast() {
            for subject in admissions[next] ?? [] where counts(admissionOf: subject, by: next) {
                if reached.insert(subject).inserted { frontier.append(subject) }
            }
            if let users = users[next], users.count == 1, let user = users.first, reached.insert(user).inserted {
                frontier.append(user)
            }
        }
        return reached
    }

    /// Tickets whose file would still admit somebody, or over which several devices are in conflict.
    private func makeOpenTickets(_ reached: Set<Fingerprint>) -> [OpenTicket] {
        var open: [OpenTicket] = []
        for (id, ticket) in tickets where reached.contains(id) && !removed.contains(id) {
            // Several members could sign a ticket for one key; the smallest is shown as the issuer.
            guard let issuer = ticket.issuers.min() else { continue }
            let users = (users[id] ?? []).map(\.device).sorted()
            open.append(OpenTicket(id: id, key: ticket.key, issuer: issuer.device, users: users))
        }
        return open.sorted { $0.id < $1.id }
    }
}
