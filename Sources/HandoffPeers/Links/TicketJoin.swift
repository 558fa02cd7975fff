import HandoffModel
import HandoffState
import LoopIO

/// Joins the account whose file this device has imported. Calls the detected members one after the
/// other, until one admits this device and sends the account key. Lives on the daemon's loop.
///
/// Members are detected by the marks that they make for the ticket (``MissingMembers``), or called
/// at configured addresses (``StaticPeers``).
final class TicketJoin {
    /// The time for which only one member is called.
    private static let headStart = Duration.milliseconds(300)
    /// The time for an answering member to send the account key before another one is called too.
    private static let keyTimeout = Duration.seconds(2)

    private let loop: EventLoop
    private let log: Logger
    private let pool: LinkPool
    private unowned let network: PeerNetwork
    private let records: PeerRecords
    /// The number of rounds without success.
    private var rounds = 0
    private var timer: LoopTimer?
    private var retryTimer: LoopTimer?

    init(loop: EventLoop, log: Logger, pool: LinkPool, network: PeerNetwork, records: PeerRecords) {
        self.loop = loop
        self.log = log
        self.pool = pool
        self.network = network
        self.records = records
    }

    /// Handles the detection of a member that waits for this device.
    func detected(_ device: DeviceID) {
        guard pool.snapshot.isJoining, timer?.isArmed != true else { return }
        callNext()
    }

    /// Applies a change of the account.
    func accountChanged() {
        guard !pool.snapshot.isJoining else { return }
        records.updateAll { $0.joinCall = nil }
        rounds = 0
        timer = nil
        retryTimer = nil
    }

    /// The reason why this device has not joined yet, for people.
    var missing: String {
        if pool.all.contains(where: { $0.isEstablished }) {
            return "a member has answered but has not sent the account key yet"
        }
        if !records.devices(where: { $0.detection?.isMarked == true }).isEmpty {
            return "a member is online but has not admitted this device yet"
        }
        if network.strangers.isEmpty {
            return
                "no device with Handoff is visible on this network: start a device that was in the account when the file was exported"
        }
        return """
            no device that is visible on this network accepts this file: the file was already used or revoked, or no device \
            that was in the account when the file was exported is online
            """
    }

    /// The members whose calls are pending.
    private var pending: Set<DeviceID> { records.devices { $0.joinCall == .pending } }

    private func callNext() {
        guard pool.snapshot.isJoining else { return }
        let seen = records.devices { $0.detection != nil }.filter { network.currentDetection(of: $0) != nil }.sorted()
        guard let next = seen.first(where: { records[$0].joinCall == nil }) else { return }
        guard let link = pool.link(to: next, isForRoster: true) else { return }
        records[next].joinCall = .pending
        log.info("Calling a member that waits for this device", ["device": next.short])
        link.whenEnded { [weak self] in self?.ended(next) }
        arm(&timer, after: Self.headStart) { [unowned self] in
            guard pending.contains(where: { pool.established(to: $0) != nil }) else { return callNext() }
            arm(&timer, after: Self.keyTimeout) { [unowned self] in callNext() }
        }
    }

    private func ended(_ device: DeviceID) {
        records[device].joinCall = pool.snapshot.isJoining ? .failed : nil
        guard pool.snapshot.isJoining else { return }
        if pending.isEmpty { callNext() }
        guard retryTimer?.isArmed != true else { return }
        rounds += 1
        // Sooner than other retries, because the user waits for it.
        arm(&retryTimer, after: Backoff.roster.delay(after: rounds) / 2) { [unowned self] in
            records.updateAll { if $0.joinCall == .failed { $0.joinCall = nil } }
            callNext()
        }
    }

    private func arm(_ timer: inout LoopTimer?, after wait: Duration, _ handler: @escaping () -> Void) {
        timer = loop.timer(after: wait, handler: handler)
    }
}
