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

    private let loop: EventLoop
    private let log: Logger
    private let discovery: any Discovery
    private let port: UInt16
    private var host = ""
    private var lastPublished: MonotonicInstant?
    private var timer: LoopTimer?
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

    /// The label is another one: the host name changes with it, and the next announcement goes out at once.
    func labelChanged() {
        host = Base32.encode(Randomness.bytes(Label.byteCount))
        lastPublished = nil
    }

    /// The keys are other ones: the record that the former ones open is replaced immediately.
    func keysChanged() {
        lastPublished = nil
        changed()
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
        guard let (label, text) = network?.composeBeacon() else { return }
        lastPublished = loop.now
        discovery.publish(Publication(instance: label.instanceName, host: host, port: port, text: text))
    }
}
