package import HandoffAccount
package import HandoffCrypto
package import HandoffProtocol
import LoopIO
package import Timing

/// The labels under which this device is found, and the gate that belongs to them. Plain values.
package struct OwnLabels {
    private struct Held {
        let label: Label
        /// The gate key of the epoch in which the label was made, by which callers in that epoch mask their hints.
        let gateKey: SecretBytes
        var seen = SeenTokens()
    }

    /// How long a former label is still honoured: mDNS caches and datagrams under way.
    static let overlap = Duration.seconds(120)
    /// Former labels that are honoured at a time: a cable that is pulled and put back changes the network several times
    /// within seconds, and the others have heard of the first label only.
    static let maxFormer = 4
    /// Labels by which lost devices may know this one that are kept.
    private static let maxFormerForLost = 16
    /// Labels of this start that are remembered, to tell a record of one's own from that of another machine: years of them.
    private static let maxRemembered = 65_536

    private var present: Held?
    /// Former labels, the latest first.
    private var former: [(held: Held, ends: MonotonicInstant)] = []
    /// The former labels by which a lost device may know this one, the latest first.
    private var formerForLost: [(label: Label, ends: MonotonicInstant)] = []
    /// Calls by the static label.
    package private(set) var staticCalls: StaticCalls
    private var remembered: Set<Label> = []

    /// No labels yet.
    package init(_ staticCalls: StaticCalls = StaticCalls()) {
        self.staticCalls = staticCalls
    }

    /// The label that is announced; nil without an account.
    package var label: Label? { present?.label }

    /// Whether so many tokens were used under the present label that a new one is due.
    package var isWornOut: Bool { present?.seen.isFull ?? false }

    /// Whether the label was this device's own since its start.
    package func isOwn(_ label: Label) -> Bool { remembered.contains(label) }

    /// Takes a new random label of an epoch; the former one is honoured for a while.
    package mutating func renew(_ keys: EpochKeys, now: MonotonicInstant) {
        if let present {
            former.insert((present, now.advanced(by: Self.overlap)), at: 0)
            former.removeLast(max(0, former.count - Self.maxFormer))
            formerForLost.insert((present.label, now.advanced(by: PeerTable.searchLimit)), at: 0)
            formerForLost.removeLast(max(0, formerForLost.count - Self.maxFormerForLost))
        }
        let label = Label.random(labelKey: keys.label)
        present = Held(label: label, gateKey: keys.gate)
        if remembered.count >= Self.maxRemembered { remembered.removeAll() }
        remembered.insert(label)
    }

    /// Forgets all labels: this device is no member of an account.
    package mutating func clear() {
        present = nil
        former = []
        formerForLost = []
    }

    /// Takes the parties that may call as they are now.
    package mutating func partiesChanged(_ parties: some Collection<Party>) {
        staticCalls.retain(parties)
    }

    /// The labels that datagrams for this device may be sealed for, the present one first.
    package func receivers(now: MonotonicInstant) -> [Label] {
        guard let present else { return [] }
        return [present.label] + former.filter { now < $0.ends }.map(\.held.label)
    }

    /// The former labels under which a new advert of a lost device is accepted: it may have missed all later ones.
    func receiversForLost(now: MonotonicInstant) -> [Label] {
        formerForLost.filter { now < $0.ends }.map(\.label)
    }

    /// Hashes that judging one caller costs at most, whoever it is.
    package func hashesPerCaller(now: MonotonicInstant) -> Int {
        // The record and the serial, one for each hint, and one for each label with the static one.
        2 + epochs(now: now).count + receivers(now: now).count + 1
    }

    /// Judges what an unknown caller wrote before TLS: nil closes the connection without a byte.
    ///
    /// - Parameters:
    ///   - callers: finds the party by the hint. Who is no party may call by a key of `epoch`, and by an announced label alone.
    ///   - knownBoot: the greatest boot that is known of a party.
    package mutating func admit(
        _ knock: inout Knock, among callers: CallerTable, epoch: SecretBytes, now: MonotonicInstant,
        knownBoot: (Party) -> UInt64?
    ) -> Party? {
        guard present != nil else { return nil }
        let labels = receivers(now: now) + [Gate.staticLabel]
        let party = callers.party(of: &knock, epochs: epochs(now: now), labels: labels) ?? .keyHolder
        let key = callers.keys[party] ?? epoch
        var called: Label?
        // All of them, so that nothing shows in the time.
        for label in labels where knock.isMade(with: key, under: label) { called = label }
        guard let called else { return nil }
        guard called == Gate.staticLabel else { return use(knock.tag, under: called) ? party : nil }
        guard party != .keyHolder, let serial = knock.serial(with: key) else { return nil }
        return staticCalls.admit(serial, of: party, knownBoot: knownBoot(party) ?? 0) ? party : nil
    }

    /// The gate keys of the epochs in which the labels that are valid were made, each once.
    private func epochs(now: MonotonicInstant) -> [SecretBytes] {
        let held = (present.map { [$0] } ?? []) + former.filter { now < $0.ends }.map(\.held)
        return held.map(\.gateKey).reduce(into: []) { keys, key in
            if !keys.contains(where: key.isEqual) { keys.append(key) }
        }
    }

    /// Notes a tag that is valid; false if it was used before.
    private mutating func use(_ tag: [UInt8], under label: Label) -> Bool {
        if present?.label == label { return present?.seen.insert(tag) ?? false }
        guard let index = former.firstIndex(where: { $0.held.label == label }) else { return false }
        return former[index].held.seen.insert(tag)
    }
}
