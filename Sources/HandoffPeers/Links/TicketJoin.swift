import HandoffLog
import HandoffModel
import HandoffState
import LoopIO
import Timing

/// Brings this device into the account whose file it has imported: calls the members that it sees, one after the other, until
/// one lets it in and hands it the account key. Lives on the daemon's loop.
///
/// Members are seen by the marks that they make for the ticket (``MissingMembers``), or called at configured addresses
/// (``StaticPeers``).
final class TicketJoin {
    /// How long one member is waited for alone.
    private static let headStart = Duration.milliseconds(300)
    /// How long one that has answered has to hand over the account key, before another one is called as well.
    private static let timeoutForKey = Duration.seconds(2)

    private let loop: EventLoop
    private let log: Logger
    private let pool: LinkPool
    private unowned let network: PeerNetwork
    private let records: PeerRecords
    /// Rounds in which nobody has helped.
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

    /// A member shows that it waits for this device.
    func sighted(_ device: DeviceID) {
        guard pool.snapshot.isJoining, timer?.isArmed != true else { return }
        callNext()
    }

    /// The account is another one now.
    func accountChanged() {
        guard !pool.snapshot.isJoining else { return }
        records.updateAll { $0.joinCall = nil }
        rounds = 0
        timer = nil
        retryTimer = nil
    }

    /// What is missing until this device has joined, for people.
    var missing: String {
        if pool.all.contains(where: { $0.isEstablished }) {
            return "a member has answered, and has not handed over the account key yet"
        }
        if !records.devices(where: { $0.sighting?.isMarked == true }).isEmpty {
            return "a member is in reach, and has not let this device in yet"
        }
        if network.strangers.isEmpty {
            return
                "no device with Handoff is seen on this network: switch on a device that was in the account when the file was made"
        }
        return """
            no device that is seen on this network waits for this file: it was used or closed before, or none of those that \
            were in the account when the file was made is on
            """
    }

    /// The members whose calls are pending.
    private var pending: Set<DeviceID> { records.devices { $0.joinCall == .pending } }

    private func callNext() {
        guard pool.snapshot.isJoining else { return }
        let seen = records.devices { $0.sighting != nil }.filter { network.presentSighting(of: $0) != nil }.sorted()
        guard let next = seen.first(where: { records[$0].joinCall == nil }) else { return }
        guard let link = pool.link(to: next, isForRoster: true) else { return }
        records[next].joinCall = .pending
        log.info("Calling a member that waits for this device", ["device": next.short])
        link.whenEnded { [weak self] in self?.ended(next) }
        arm(&timer, after: Self.headStart) { [unowned self] in
            guard pending.contains(where: { pool.established(to: $0) != nil }) else { return callNext() }
            arm(&timer, after: Self.timeoutForKey) { [unowned self] in callNext() }
        }
    }

    private func ended(_ device: DeviceID) {
        records[device].joinCall = pool.snapshot.isJoining ? .failed : nil
        guard pool.snapshot.isJoining else { return }
        if pending.isEmpty { callNext() }
        guard retryTimer?.isArmed != true else { return }
        rounds += 1
        // Sooner than others: somebody waits for it.
        arm(&retryTimer, after: Backoff.roster.delay(after: rounds) / 2) { [unowned self] in
            records.updateAll { if $0.joinCall == .failed { $0.joinCall = nil } }
            callNext()
        }
    }

    private func arm(_ timer: inout LoopTimer?, after wait: Duration, _ handler: @escaping () -> Void) {
        timer = loop.timer(after: wait, handler: handler)
    }
}
