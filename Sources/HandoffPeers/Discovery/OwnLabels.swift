package import HandoffAccount
package import HandoffCrypto
import HandoffDiscovery
package import HandoffModel
package import HandoffProtocol
import LoopIO

/// The labels under which this device is found, and the gate for each. Plain values.
package struct OwnLabels {
    private struct Held {
        let label: Label
        /// The gate key of the epoch in which the label was made. Callers in that epoch mask their
        /// hints with it.
        let gateKey: SecretBytes
        var seen = SeenTokens()
    }

    /// The time for which a former label is accepted, for mDNS caches and datagrams in transit.
    static let overlap = Duration.seconds(120)
    /// The maximum number of former labels that are accepted. A cable that is pulled and plugged in
    /// again changes the network several times within seconds, and the others have received the
    /// first label only.
    static let maxFormer = 4
    /// The maximum number of labels that are kept for lost devices: twice as many as expire while
    /// such a device is searched for, because a change of the network renews the label, too.
    private static let maxFormerForLost =
        2 * Int(PeerTable.searchLimit / .seconds(Int64(PublicationGroup.labelLifetime.lowerBound)))
    /// The maximum number of remembered labels of this start, to distinguish this device's records
    /// from those of another machine. They last for years.
    private static let maxRemembered = 65_536

    private var present: Held?
    /// The former labels, latest first.
    private var former: [(held: Held, ends: MonotonicInstant)] = []
    /// The former labels by which a lost device may know this one, latest first.
    private var formerForLost: [(label: Label, ends: MonotonicInstant)] = []
    /// The latest calls by the static label.
    package private(set) var staticCalls: StaticCalls
    private var remembered: Set<Label> = []

    package init(_ staticCalls: StaticCalls = StaticCalls()) {
        self.staticCalls = staticCalls
    }

    /// The announced label; nil without an account.
    package var label: Label? { present?.label }

    /// True if so many tokens were used under the present label that it must be renewed.
    package var isWornOut: Bool { present?.seen.isFull ?? false }

    /// Returns true if the label was this device's own since its start.
    package func isOwn(_ label: Label) -> Bool { remembered.contains(label) }

    /// Creates a new random label of an epoch. The former label stays valid for a while.
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

    /// Forgets all labels: this device is not a member of an account.
    package mutating func clear() {
        present = nil
        former = []
        formerForLost = []
    }

    /// Updates the parties that may call.
    package mutating func partiesChanged(_ parties: some Collection<Party>) {
        staticCalls.retain(parties)
    }

    /// Returns the labels that datagrams for this device may be sealed for, the present one first.
    package func receivers(now: MonotonicInstant) -> [Label] {
        guard let present else { return [] }
        return [present.label] + former.filter { now < $0.ends }.map(\.held.label)
    }

    /// Returns the former labels under which a new advert of a lost device is accepted: it may have
    /// missed all later ones.
    package func receiversForLost(now: MonotonicInstant) -> [Label] {
        formerForLost.filter { now < $0.ends }.map(\.label)
    }

    /// Returns the maximum number of hashes for judging any caller.
    package func hashesPerCaller(now: MonotonicInstant) -> Int {
        // One each for the record, the serial, each hint, and each label including the static one.
        2 + epochs(now: now).count + receivers(now: now).count + 1
    }

    /// Judges the bytes of an unknown caller before TLS. Nil closes the connection without a reply.
    ///
    /// - Parameters:
    ///   - callers: finds the party by the hint. Any other caller may use only a key of `epoch` and
    ///     an announced label.
    ///   - knownGeneration: the greatest known generation of a party.
    package mutating func admit(
        _ knock: inout Knock, among callers: CallerTable, epoch: SecretBytes, now: MonotonicInstant,
        knownGeneration: (Party) -> UInt64?
    ) -> Party? {
        guard present != nil else { return nil }
        let labels = receivers(now: now) + [Gate.staticLabel]
        let party = callers.party(of: &knock, epochs: epochs(now: now), labels: labels) ?? .keyHolder
        let key = callers.keys[party] ?? epoch
        var called: Label?
        // All of them, so that the time reveals nothing.
        for label in labels where knock.isMade(with: key, under: label) { called = label }
        guard let called else { return nil }
        guard called == Gate.staticLabel else { return use(knock.tag, under: called) ? party : nil }
        guard party != .keyHolder, let serial = knock.serial(with: key) else { return nil }
        return staticCalls.admit(serial, of: party, knownGeneration: knownGeneration(party) ?? 0) ? party : nil
    }

    /// The gate keys of the epochs of the valid labels, each once.
    private func epochs(now: MonotonicInstant) -> [SecretBytes] {
        let held = (present.map { [$0] } ?? []) + former.filter { now < $0.ends }.map(\.held)
        return held.map(\.gateKey).reduce(into: []) { keys, key in
            if !keys.contains(where: key.isEqual) { keys.append(key) }
        }
    }

    /// Notes a valid tag. Returns false if it was used before.
    private mutating func use(_ tag: [UInt8], under label: Label) -> Bool {
        if present?.label == label { return present?.seen.insert(tag) ?? false }
        guard let index = former.firstIndex(where: { $0.held.label == label }) else { return false }
        return former[index].held.seen.insert(tag)
    }
}
