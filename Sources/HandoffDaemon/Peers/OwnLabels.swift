package import HandoffAccount
import HandoffCrypto
package import HandoffProtocol
package import LoopIO

/// The labels under which this device is found, and the gate that belongs to them. Plain values.
package struct OwnLabels {
    /// What a token that opened the gate was made with.
    package struct Admission: Equatable {
        /// The mark of the epoch of the gate key (`KeyRing.epochMark`).
        package let epoch: UInt64
    }

    fileprivate struct Held {
        let label: Label
        let keys: EpochKeys
        let epoch: UInt64
        var seen = SeenTokens()
    }

    /// How long the label before the present one is still honoured: mDNS caches and datagrams under way.
    static let overlap = Duration.seconds(120)

    private var present: Held?
    private var previous: Held?
    private var previousEnds = LoopInstant(nanoseconds: 0)
    /// By static label, as those do not change with ours: a token that was recorded must not open again after a new label.
    private var seenStatic: [Label: SeenTokens] = [:]

    /// No labels yet.
    package init() {}

    /// The label that is announced; nil without an account.
    package var label: Label? { present?.label }

    /// Whether so many tokens were used under the present label that a new one is due.
    package var isWornOut: Bool { present?.seen.isFull ?? false }

    /// Takes a new random label; the former one is honoured for a while.
    ///
    /// - Parameter epoch: the mark of the epoch that `keys` belong to.
    package mutating func renew(keys: EpochKeys, epoch: UInt64, now: LoopInstant) {
        previous = present
        previousEnds = now.advanced(by: Self.overlap)
        present = Held(label: .random(labelKey: keys.label), keys: keys, epoch: epoch)
    }

    /// Forgets all labels: this device is no member of an account.
    package mutating func clear() {
        present = nil
        previous = nil
        seenStatic = [:]
    }

    /// The labels that datagrams for this device may be sealed for, the present one first.
    package func receivers(now: LoopInstant) -> [Label] {
        var labels: [Label] = []
        if let present { labels.append(present.label) }
        if let previous, now < previousEnds { labels.append(previous.label) }
        return labels
    }

    /// Judges what a stranger wrote before TLS: nil closes the connection without a byte.
    ///
    /// - Parameter unixSeconds: the wall clock, for callers that know this device by its address alone.
    package mutating func admit(
        _ token: [UInt8], clientHello: [UInt8], now: LoopInstant, unixSeconds: UInt64
    ) -> Admission? {
        if present?.admits(token, clientHello) ?? false { return present.map { Admission(epoch: $0.epoch) } }
        if now < previousEnds, previous?.admits(token, clientHello) ?? false {
            return previous.map { Admission(epoch: $0.epoch) }
        }
        guard let keys = present?.keys, let epoch = present?.epoch else { return nil }
        let statics = Gate.staticLabels(labelKey: keys.label, unixSeconds: unixSeconds)
        let called = statics.first { Gate.isValid(token, gateKey: keys.gate, label: $0, clientHello: clientHello) }
        guard let called else { return nil }
        seenStatic = seenStatic.filter { statics.contains($0.key) }
        return seenStatic[called, default: SeenTokens()].insert(token) ? Admission(epoch: epoch) : nil
    }
}

extension OwnLabels.Held {
    fileprivate mutating func admits(_ token: [UInt8], _ clientHello: [UInt8]) -> Bool {
        Gate.isValid(token, gateKey: keys.gate, label: label, clientHello: clientHello) && seen.insert(token)
    }
}
