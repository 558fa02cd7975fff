import HandoffCrypto
import HandoffDiscovery
import HandoffLog
import HandoffModel
import HandoffProtocol
import LoopIO
import Timing

/// Puts the beacon into mDNS, not too often, and the last state always. Lives on the daemon's loop.
///
/// From five updates a second on Avahi falls silent for seconds without an error; and each update shows everyone on the
/// link that something changed, so a random delay blurs when.
final class BeaconPublisher {
    /// The shortest time between two renewals.
    static let spacing = Duration.seconds(2)
    /// The same where somebody waits for it.
    static let awaitedSpacing = Duration.milliseconds(500)
    /// The longest random delay of a renewal.
    static let delay = Duration.seconds(1)
    /// When a record is sealed again after the first one under its label, whatever happens: by then it echoes the records that were
    /// found, to devices whose clocks differ. A record that is sealed because another one was found would show whom its device knows
    /// to any host that repeats an old record.
    static let firstRenewals = [Duration.seconds(1), .seconds(3)]
    /// When it is sealed again after that, unless it was renewed meanwhile; so its period stays the present one, and its salt one of the
    /// last minutes.
    static let renewal = AdvertMachine.renewal
    static let slowRenewal = AdvertMachine.slowRenewal

    private let loop: EventLoop
    private let log: Logger
    private let discovery: any Discovery
    private let port: UInt16
    private var host = ""
    private var lastPublished: MonotonicInstant?
    private var timer: LoopTimer?
    /// When the record is due to be sealed again, the earliest first.
    private var due: [MonotonicInstant] = []
    private var renewalTimer: LoopTimer?
    /// True if records are sealed again as seldom as may be.
    var savesPower = false
    private var conflicts = Backoff.labelConflict
    /// How long the present label is kept whatever happens.
    private var conflictWait = Duration.zero
    private var lastConflict: MonotonicInstant?
    /// Makes the label and the text as they are at the moment of publishing; nil: there is nothing to publish yet.
    weak var network: PeerNetwork?

    init(loop: EventLoop, log: Logger, discovery: any Discovery, port: UInt16) {
        self.loop = loop
        self.log = log
        self.discovery = discovery
        self.port = port
    }

    /// The addresses with which the record is published now.
    var ownAddresses: [IPAddress] { discovery.ownAddresses }

    /// The label is another one: the host name changes with it, and the next announcement goes out at once.
    func labelChanged() {
        host = Base32.encode(Randomness.bytes(Label.byteCount))
        lastPublished = nil
    }

    /// The keys have changed: immediately replaces the record that the former ones open. It is not the first one under its label, so
    /// the times at which records are sealed stay as they are.
    func keysChanged() {
        publish()
    }

    /// What the beacon says has changed: it is renewed soon, or at once when it is the first under its label.
    ///
    /// - Parameter isAwaited: somebody waits for it; then it is not delayed at random.
    func changed(isAwaited: Bool = false) {
        guard let lastPublished else { return publish() }
        guard timer == nil || isAwaited else { return }
        let spacing = isAwaited ? Self.awaitedSpacing : Self.spacing
        let earliest = max(Duration.zero, loop.now.duration(to: lastPublished.advanced(by: spacing)))
        let blur = isAwaited ? .zero : Self.delay * Double.random(in: 0...1)
        timer = loop.timer(after: earliest + blur, accuracy: .milliseconds(100)) { [unowned self] in publish() }
    }

    /// Nothing is announced any more.
    func withdraw() {
        timer = nil
        renewalTimer = nil
        lastPublished = nil
        discovery.publish(nil)
    }

    /// Whether a conflict may be answered with a new name now: someone who provokes them must not keep us busy.
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
