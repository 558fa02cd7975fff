internal import HandoffCrypto
internal import HandoffModel

/// The four steps from statements to members. Each step uses only earlier ones, so there are no
/// cycles.
///
/// 1. *known*: the founder, and every key that a known key admits, ignoring removals. A roster
///    contains statements by known keys only.
/// 2. *removed*: every subject of a removal.
/// 3. An admission counts if its signer is not removed, or if every removal of that signer keeps
///    its subject. A ticket with more than one counting use admits no device.
/// 4. *live*: devices that are not removed and are reachable from the founder over admissions that
///    count. The founder and devices on the path may themselves be removed.
struct RosterRules {
    private(set) var deviceKeys: [DeviceID: PublicKey] = [:]
    private(set) var removed: Set<Fingerprint> = []
    private(set) var live: Set<DeviceID> = []
    private(set) var openTickets: [OpenTicket] = []
    private(set) var admissions: [Fingerprint: Set<Fingerprint>] = [:]
    /// The devices whose use of a ticket counts, by ticket.
    private(set) var users: [Fingerprint: Set<Fingerprint>] = [:]
    private(set) var epochs: [EpochRecord] = []
    private(set) var names: [Name] = []

    /// A name given to a device.
    struct Name {
        let subject: DeviceID
        let signer: DeviceID
        let rank: RankedStatement
        let text: String
    }

    /// The keys that each remover keeps, by subject and remover.
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

    /// Sorts one statement into the collections that the steps read.
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
            // A signer that removes one subject twice contradicts itself, so neither removal keeps
            // anything. Accepting either one would let a removed device extend its `keeps` and
            // readmit an accomplice.
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

    /// Step 3: returns whether an admission of `subject` by `signer` counts.
    private func counts(admissionOf subject: Fingerprint, by signer: Fingerprint) -> Bool {
        guard let removals = removals[signer] else { return true }
        return removals.values.allSatisfy { $0.contains(subject) }
    }

    /// Step 4, including removed devices, which can be on the path to others.
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

    /// The tickets whose file can still admit a device, or which several devices have used.
    private func makeOpenTickets(_ reached: Set<Fingerprint>) -> [OpenTicket] {
        var open: [OpenTicket] = []
        for (id, ticket) in tickets where reached.contains(id) && !removed.contains(id) {
            // Several members can sign a ticket for one key. The smallest id is shown as the
            // issuer.
            guard let issuer = ticket.issuers.min() else { continue }
            let users = (users[id] ?? []).map(\.device).sorted()
            open.append(OpenTicket(id: id, key: ticket.key, issuer: issuer.device, users: users))
        }
        return open.sorted { $0.id < $1.id }
    }
}
