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

    /// How long a former label is still honoured: mDNS caches and datagrams under way.
    static let overlap = Duration.seconds(120)
    /// Former labels that are honoured at a time: a cable that is pulled and put back changes the network several times
    /// within seconds, and the others have heard of the first label only.
    static let mostFormer = 4

    private var present: Held?
    /// Former labels, the latest first.
    private var former: [(held: Held, ends: LoopInstant)] = []
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
        if let present {
            former.insert((present, now.advanced(by: Self.overlap)), at: 0)
            former.removeLast(max(0, former.count - Self.mostFormer))
        }
        present = Held(label: .random(labelKey: keys.label), keys: keys, epoch: epoch)
    }

    /// Forgets all labels: this device is no member of an account.
    package mutating func clear() {
        present = nil
        former = []
        seenStatic = [:]
    }

    /// The labels that datagrams for this device may be sealed for, the present one first.
    package func receivers(now: LoopInstant) -> [Label] {
        guard let present else { return [] }
        return [present.label] + former.filter { now < $0.ends }.map(\.held.label)
    }

    /// Judges what a stranger wrote before TLS: nil closes the connection without a byte.
    ///
    /// - Parameter unixSeconds: the wall clock, for callers that know this device by its address alone.
    package mutating func admit(
        _ token: [UInt8], clientHello: [UInt8], now: LoopInstant, unixSeconds: UInt64
    ) -> Admission? {
        if present?.admits(token, clientHello) ?? false { return present.map { Admission(epoch: $0.epoch) } }
        for index in former.indices where now < former[index].ends {
            if former[index].held.admits(token, clientHello) { return Admission(epoch: former[index].held.epoch) }
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
