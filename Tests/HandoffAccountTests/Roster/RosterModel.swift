import HandoffAccount
import HandoffCrypto
import HandoffModel

/// A slow second implementation of the rules in docs/protocol.md: an oracle for `RosterView`.
struct RosterModel: Equatable {
    var live: Set<Fingerprint> = []
    var removed: Set<Fingerprint> = []
    var currentEpoch: Fingerprint?
    var names: [Fingerprint: String] = [:]

    init(founder: Fingerprint, statements: [Statement]) {
        var known: Set<Fingerprint> = [founder]
        var tickets: Set<Fingerprint> = []
        var hasChanged = true
        while hasChanged {
            hasChanged = false
            for statement in statements where known.contains(statement.signerID) || tickets.contains(statement.signerID)
            {
                guard let admitted = statement.admitted else { continue }
                if case .ticket = statement.content {
                    hasChanged = tickets.insert(admitted).inserted || hasChanged
                } else {
                    hasChanged = known.insert(admitted).inserted || hasChanged
                }
            }
        }
        let removals = statements.filter { known.contains($0.signerID) && $0.content.kind == .remove }
        removed = Set(removals.compactMap(\.removedSubject))

        func isKept(_ subject: Fingerprint, by signer: Fingerprint) -> Bool {
            let ofSigner = removals.filter { $0.removedSubject == signer }
            let removers = ofSigner.map(\.signerID)
            if Set(removers).count != removers.count {
                return false  // A remover contradicts itself.
            }
            return ofSigner.allSatisfy { $0.keptSubjects.contains(subject) }
        }
        var uses: [Fingerprint: Set<Fingerprint>] = [:]
        var edges: [(Fingerprint, Fingerprint)] = []
        for statement in statements {
            guard let admitted = statement.admitted, isKept(admitted, by: statement.signerID) else { continue }
            if case .use = statement.content {
                uses[statement.signerID, default: []].insert(admitted)
            } else {
                edges.append((statement.signerID, admitted))
            }
        }
        for (ticket, users) in uses where users.count == 1 { edges += users.map { (ticket, $0) } }
        var reached: Set<Fingerprint> = [founder]
        hasChanged = true
        while hasChanged {
            hasChanged = false
            for (from, to) in edges where reached.contains(from) {
                hasChanged = reached.insert(to).inserted || hasChanged
            }
        }
        live = reached.subtracting(removed).subtracting(tickets)

        let digest = SHA256.hash(removed.intersection(known).sorted().flatMap(\.bytes))
        var greatest: (n: UInt32, id: Fingerprint)?
        for statement in statements where live.contains(statement.signerID) {
            guard case .epoch(let n, let removedDigest, _) = statement.content, removedDigest.bytes == digest else {
                continue
            }
            if let other = greatest, (other.n, other.id) > (n, statement.id) { continue }
            greatest = (n, statement.id)
        }
        currentEpoch = greatest?.id

        var ranks: [Fingerprint: (UInt32, Fingerprint)] = [:]
        for statement in statements where live.contains(statement.signerID) {
            guard case .name(let device, let counter, let text) = statement.content else { continue }
            let subject = Fingerprint(device)
            if let rank = ranks[subject], rank > (counter, statement.id) { continue }
            ranks[subject] = (counter, statement.id)
            names[subject] = text
        }
    }

    /// Creates a model from a view.
    init(_ view: RosterView) {
        live = Set(view.live.map { Fingerprint($0) })
        removed = view.removed
        currentEpoch = view.currentEpoch?.id
        for (device, text) in view.names { names[Fingerprint(device)] = text }
    }
}

extension Statement {
    fileprivate var removedSubject: Fingerprint? {
        if case .remove(let subject, _) = content { subject } else { nil }
    }

    fileprivate var keptSubjects: [Fingerprint] {
        if case .remove(_, let keeps) = content { keeps } else { [] }
    }
}
