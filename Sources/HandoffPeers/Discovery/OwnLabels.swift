package import HandoffAccount
package import HandoffCrypto
package import HandoffProtocol
import LoopIO
package import Timing

/// The labels under which this device is found, and the gate that belongs to them. Plain values.
package struct OwnLabels {
    private struct Held {
        let label: Label
        var seen = SeenTokens()
    }

    /// How long a former label is still honoured: mDNS caches and datagrams under way.
    static let overlap = Duration.seconds(120)
    /// Former labels that are honoured at a time: a cable that is pulled and put back changes the network several times
    /// within seconds, and the others have heard of the first label only.
    static let maxFormer = 4
    /// Labels of this start that are remembered, to tell a record of one's own from that of another machine: years of them.
    private static let maxRemembered = 65_536

    private var present: Held?
    /// Former labels, the latest first.
    private var former: [(held: Held, ends: MonotonicInstant)] = []
    /// By static label, as those do not change with ours: a token that was recorded must not open again after a new label.
    private var seenStatic: [Label: SeenTokens] = [:]
    private var remembered: Set<Label> = []

    /// No labels yet.
    package init() {}

    /// The label that is announced; nil without an account.
    package var label: Label? { present?.label }

    /// Whether so many tokens were used under the present label that a new one is due.
    package var isWornOut: Bool { present?.seen.isFull ?? false }

    /// Whether the label was this device's own since its start.
    package func isOwn(_ label: Label) -> Bool { remembered.contains(label) }

    /// Takes a new random label of an epoch; the former one is honoured for a while.
    package mutating func renew(labelKey: SecretBytes, now: MonotonicInstant) {
        if let present {
            former.insert((present, now.advanced(by: Self.overlap)), at: 0)
            former.removeLast(max(0, former.count - Self.maxFormer))
        }
        let label = Label.random(labelKey: labelKey)
        present = Held(label: label)
        if remembered.count >= Self.maxRemembered { remembered.removeAll() }
        remembered.insert(label)
    }

    /// Forgets all labels: this device is no member of an account.
    package mutating func clear() {
        present = nil
        former = []
        seenStatic = [:]
    }

    /// The labels that datagrams for this device may be sealed for, the present one first.
    package func receivers(now: MonotonicInstant) -> [Label] {
        guard let present else { return [] }
        return [present.label] + former.filter { now < $0.ends }.map(\.held.label)
    }

    /// Judges what a stranger wrote before TLS: nil closes the connection without a byte.
    ///
    /// - Parameters:
    ///   - parties: who may be there, with the gate keys shared with each; the most likely one first.
    ///   - strangers: who may call by a label alone, and not by an address.
    ///   - unixSeconds: the wall clock, for callers that know this device by its address alone.
    package mutating func admit<Party>(
        _ token: [UInt8], _ greeting: Gate.Greeting, from parties: [(Party, SecretBytes)],
        orByLabel strangers: [(Party, SecretBytes)] = [], now: MonotonicInstant, unixSeconds: UInt64
    ) -> Party? {
        guard present != nil else { return nil }
        let staticPeers = Gate.staticLabels(unixSeconds: unixSeconds)
        let announced = receivers(now: now)
        for (parties, labels) in [(parties, announced + staticPeers), (strangers, announced)] {
            for (party, key) in parties {
                for label in labels where Gate.isValid(token, key: key, label: label, greeting) {
                    return use(token, under: label, staticPeers) ? party : nil
                }
            }
        }
        return nil
    }

    /// Notes a token that is valid; false if it was used before.
    private mutating func use(_ token: [UInt8], under label: Label, _ staticPeers: [Label]) -> Bool {
        if present?.label == label { return present?.seen.insert(token) ?? false }
        if let index = former.firstIndex(where: { $0.held.label == label }) {
            return former[index].held.seen.insert(token)
        }
        seenStatic = seenStatic.filter { staticPeers.contains($0.key) }
        return seenStatic[label, default: SeenTokens()].insert(token)
    }
}
