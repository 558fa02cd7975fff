import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import LoopIO

/// The receipts of kept activities: those of this device until their origins confirm them, and those of
/// others for the activities of this device. Lives on the daemon's loop.
final class KeptReceipts {
    /// The number of remembered receipts above which those that are no longer stored are forgotten.
    private static let maxNoted = 1024

    private let loop: EventLoop
    private let log: Logger
    private let key: SigningKey
    private let own: DeviceID
    private let peers: Peers
    private let accountStore: AccountStore
    private let wallClock: any WallClock
    private let folder: StateFolder
    private let worker: Worker
    private unowned let core: DaemonCore
    /// The receipts of this device that their origins have not confirmed.
    private(set) var unconfirmed: Set<KeptReceipt>
    /// The receipts of this device's activities that their apps were notified of.
    private var noted: Set<KeptReceipt> = []
    /// The time of the last receipt.
    private var lastTime: UInt64 = 0

    init(
        loop: EventLoop, worker: Worker, log: Logger, stored: StoredState, accountStore: AccountStore, peers: Peers,
        wallClock: any WallClock, core: DaemonCore
    ) {
        self.loop = loop
        self.log = log
        self.worker = worker
        folder = stored.folder
        key = stored.identity
        unconfirmed = Set(stored.receipts.receipts)
        own = accountStore.deviceID
        self.accountStore = accountStore
        self.peers = peers
        self.wallClock = wallClock
        self.core = core
    }

    /// Sends the receipts of an earlier start. Those that are too old, or of another account, are
    /// dropped.
    func resume() {
        let oldest = wallClock.unixSeconds - min(wallClock.unixSeconds, KeptLimits.lifetime)
        unconfirmed = unconfirmed.filter { $0.time >= oldest && accountStore.snapshot.live.contains($0.origin) }
        peers.kept.push(unconfirmed.map { .receipt($0) })
    }

    /// Creates the receipt of a kept activity that was continued here, and sends it towards the
    /// origin.
    func continued(_ kept: KeptStore.Kept) {
        guard kept.origin != own else { return }
        do {
            let receipt = try KeptReceipt(
                device: own, origin: kept.origin, activity: kept.summary.id, time: nextTime(), key: key)
            unconfirmed.insert(receipt)
            storeReceipts()
            peers.kept.push([.receipt(receipt)]) { [weak self] in self?.note($0, of: receipt) }
        } catch {
            log.fault("Cannot sign a receipt", ["error": "\(error)"])
        }
    }

    /// Returns a time that is later than that of all receipts of this device, although the clock may have
    /// been set back: other devices accept no earlier ones.
    private func nextTime() -> UInt64 {
        let stored = peers.kept.store.allReceipts.filter { $0.device == own } + unconfirmed
        let last = stored.reduce(lastTime) { max($0, $1.time) }
        // The stored file may contain any time.
        lastTime = max(wallClock.unixSeconds, last == .max ? last : last + 1)
        return lastTime
    }

    /// Forgets a receipt that its origin has confirmed. Until then it is stored, since this device may
    /// end before another one has it.
    func note(_ outcome: KeptSync.Outcome, of receipt: KeptReceipt) {
        guard outcome.confirmed.contains(receipt.origin), unconfirmed.remove(receipt) != nil else { return }
        storeReceipts()
    }

    private func storeReceipts() {
        // The newest ones, as many as other devices keep.
        let receipts = unconfirmed.sorted { $0.time > $1.time }.prefix(KeptLimits.maxReceipts)
        worker.run({ [folder] in try folder.store(receipts: ReceiptsFile(receipts: Array(receipts))) }, on: loop) {
            [log] result in
            if case .failure(let error) = result { log.error("Cannot store the receipts", ["error": "\(error)"]) }
        }
    }

    /// Returns whether a copy was continued on this device.
    func hasContinued(_ activity: ActivityID, of origin: DeviceID) -> Bool {
        func isForIt(_ receipt: KeptReceipt) -> Bool {
            receipt.device == own && receipt.origin == origin && receipt.activity == activity
        }
        return unconfirmed.contains(where: isForIt) || peers.kept.store.allReceipts.contains(where: isForIt)
    }

    /// Notifies the app of an activity of this device that another device has continued it.
    func note(_ receipt: KeptReceipt) {
        // The store accepts none again that it has dropped.
        if noted.count >= Self.maxNoted { noted.formIntersection(peers.kept.store.allReceipts) }
        guard receipt.origin == own, noted.insert(receipt).inserted else { return }
        log.notice("Was continued while offline", ["by": receipt.device.short])
        core.handover.wasContinued(receipt.activity, by: receipt.device, at: receipt.time)
    }
}
