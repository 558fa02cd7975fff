package import HandoffAccount
import HandoffCrypto
package import HandoffModel
package import HandoffProtocol
package import LoopIO

/// The labels under which this device is found, and the gate that belongs to them. Plain values.
package struct OwnLabels {
    /// What a token that opened the gate was made with.
    package struct Admission: Equatable {
        /// The mark of the epoch of the gate key (`KeyRing.epochMark`); nil for the gate key of two devices.
        package let epoch: UInt64?
        /// The only device that may be behind it; nil when it may be any that knows the epoch's gate key.
        package var device: DeviceID?
    }

    fileprivate struct Held {
        let label: Label
        let keys: EpochKeys
        let epoch: UInt64
        let missing: [DeviceID: PairKeys]
        let marks: Marks
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

    /// The marks that belong to it, for as long as it lives.
    package var marks: Marks? { present?.marks }

    /// Whether so many tokens were used under the present label that a new one is due.
    package var isWornOut: Bool { present?.seen.isFull ?? false }

    /// Takes a new random label; the former one is honoured for a while.
    ///
    /// - Parameters:
    ///   - epoch: the mark of the epoch that `keys` belong to.
    ///   - missing: the members that get marks, at most 16, and the keys shared with them.
    package mutating func renew(
        keys: EpochKeys, epoch: UInt64, missing: [DeviceID: PairKeys] = [:], now: LoopInstant
    ) {
        if let present {
            former.insert((present, now.advanced(by: Self.overlap)), at: 0)
            former.removeLast(max(0, former.count - Self.mostFormer))
        }
        let label = Label.random(labelKey: keys.label)
        present = Held(
            label: label, keys: keys, epoch: epoch, missing: missing,
            marks: Marks(under: label, for: Array(missing.values)))
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
        guard let called else { return present?.admitsMissing(token, clientHello) }
        seenStatic = seenStatic.filter { statics.contains($0.key) }
        return seenStatic[called, default: SeenTokens()].insert(token) ? Admission(epoch: epoch) : nil
    }
}

extension OwnLabels.Held {
    fileprivate mutating func admits(_ token: [UInt8], _ clientHello: [UInt8]) -> Bool {
        Gate.isValid(token, gateKey: keys.gate, label: label, clientHello: clientHello) && seen.insert(token)
    }

    /// Tries the keys shared with those that the marks were made for, and with nobody else: a stranger makes us do this.
    fileprivate mutating func admitsMissing(_ token: [UInt8], _ clientHello: [UInt8]) -> OwnLabels.Admission? {
        let caller = missing.first {
            Gate.isValid(token, gateKey: $0.value.gate, label: label, clientHello: clientHello)
        }
        guard let caller, seen.insert(token) else { return nil }
        return OwnLabels.Admission(epoch: nil, device: caller.key)
    }
}
