import HandoffCrypto
import HandoffDiscovery
import HandoffModel
import HandoffProtocol
import LoopIO

/// Publishes the beacon in mDNS, at a limited rate, and always the last state. Lives on the
/// daemon's loop.
///
/// From five updates a second on, Avahi falls silent for seconds without an error. Each update also
/// shows every host on the link that something changed, so a random delay hides when.
final class BeaconPublisher {
    /// The minimum time between two renewals.
    static let spacing = Duration.seconds(2)
    /// The same if another device waits for it.
    static let awaitedSpacing = Duration.milliseconds(500)
    /// The maximum random delay of a renewal.
    static let delay = Duration.seconds(1)
    /// The delays from the first record under a label to its unconditional renewals. By then it
    /// echoes the records that were found, to devices whose clocks differ. If finding a record
    /// caused a renewal, any host that repeats an old record would see whose record this device
    /// recognises.
    static let firstRenewals = [Duration.seconds(1), .seconds(3)]
    /// The time to the next renewal after that. It keeps the period current, and the salt at most a
    /// few minutes old.
    static let renewal = AdvertMachine.renewal
    static let slowRenewal = AdvertMachine.slowRenewal

    private let loop: EventLoop
    private let log: Logger
    private let discovery: any Discovery
    private let port: UInt16
    private var host = ""
    private var lastPublished: MonotonicInstant?
    private var timer: LoopTimer?
    /// The times of the unconditional renewals, earliest first.
    private var due: [MonotonicInstant] = []
    private var renewalTimer: LoopTimer?
    /// True to seal records as rarely as possible.
    var savesPower = false
    private var conflicts = Backoff.labelConflict
    /// The time for which the present label is kept in any case.
    private var conflictWait = Duration.zero
    private var lastConflict: MonotonicInstant?
    /// Composes the label and the text at the moment of publishing; nil if there is nothing to
    /// publish yet.
    weak var network: PeerNetwork?

    init(loop: EventLoop, log: Logger, discovery: any Discovery, port: UInt16) {
        self.loop = loop
        self.log = log
        self.discovery = discovery
        self.port = port
    }

    /// The addresses with which the record is published now.
    var ownAddresses: [IPAddress] { discovery.ownAddresses }

    /// Changes the host name together with the label. The next announcement is published
    /// immediately.
    func labelChanged() {
        host = Base32.encode(Randomness.bytes(Label.byteCount))
        lastPublished = nil
    }

    /// Immediately replaces the record that the former keys open. It is not the first one under its
    /// label, so the times at which records are sealed stay the same.
    func keysChanged() {
        publish()
    }

    /// Renews the beacon soon, or immediately if it is the first one under its label.
    ///
    /// - Parameter isAwaited: true if another device waits for it. Then there is no random delay.
    func changed(isAwaited: Bool = false) {
        guard let lastPublished else { return publish() }
        guard timer == nil || isAwaited else { return }
        let spacing = isAwaited ? Self.awaitedSpacing : Self.spacing
        let earliest = max(Duration.zero, loop.now.duration(to: lastPublished.advanced(by: spacing)))
        let blur = isAwaited ? .zero : Self.delay * Double.random(in: 0...1)
        timer = loop.timer(after: earliest + blur, accuracy: .milliseconds(100)) { [unowned self] in publish() }
    }

    func withdraw() {
        timer = nil
        renewalTimer = nil
        lastPublished = nil
        discovery.publish(nil)
    }

    /// Returns true if a new name may be chosen after a conflict now. A host that provokes
    /// conflicts must not keep this device busy.
    func mayRenewAfterConflict() -> Bool {
        let now = loop.now
        if let lastConflict {
            guard lastConflict.advanced(by: conflictWait) <= now else { return false }
        }
        lastConflict = now
        conflictWait = conflicts.next()
        return true
    }

    private func publish() {
        timer = nil
        guard let (label, text) = network?.composeBeacon(for: discovery.ownAddresses, port: port) else { return }
        let now = loop.now
        if lastPublished == nil {
            due = Self.firstRenewals.map { now.advanced(by: $0 * Double.random(in: 0.9...1.1)) }
        }
        lastPublished = now
        discovery.publish(Publication(instance: label.instanceName, host: host, port: port, text: text))
        due.removeAll { $0 <= now }
        let next = due.first ?? now.advanced(by: savesPower ? Self.slowRenewal : Self.renewal)
        renewalTimer = loop.timer(after: now.duration(to: next), accuracy: .milliseconds(100)) { [unowned self] in
            publish()
        }
    }
}
