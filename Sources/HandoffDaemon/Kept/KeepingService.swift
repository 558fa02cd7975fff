import HandoffAccount
import HandoffControl
import HandoffCrypto
import HandoffJSON
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import LoopIO

/// Keeps the activities of this device on the other members, and those of the other members on this
/// device (docs/protocol.md#kept-activities). Lives on the daemon's loop.
///
/// `KeepingMachine` decides what is copied, and `KeptSync` exchanges the copies.
final class KeepingService {
    /// The maximum time for which the sleep of the machine is delayed until its activities are kept.
    static let sleepTimeout = Duration.seconds(2)
    /// The maximum time for which the end of the daemon is delayed.
    static let stopTimeout = Duration.seconds(1)
    /// The maximum number of remembered receipts.
    private static let maxNoted = 1024

    private let loop: EventLoop
    private let log: Logger
    private let key: SigningKey
    private let own: DeviceID
    private let peers: Peers
    private let apps: AppService
    private let switches: SwitchController
    private let history: History
    private let accountStore: AccountStore
    private let wallClock: any WallClock
    private unowned let core: DaemonCore
    private var machine = KeepingMachine()
    private var timer: LoopTimer?
    /// The time of the last record. No time is used twice.
    private var lastTime: UInt64 = 0
    /// True once this device has sent a list, which later ones must replace.
    private var hasListed = false
    /// The receipts of this device's activities that their apps were notified of.
    private var noted: Set<KeptReceipt> = []

    init(
        loop: EventLoop, log: Logger, key: SigningKey, accountStore: AccountStore, peers: Peers, apps: AppService,
        switches: SwitchController, history: History, wallClock: any WallClock, core: DaemonCore
    ) {
        self.loop = loop
        self.log = log
        self.key = key
        own = accountStore.deviceID
        self.accountStore = accountStore
        self.peers = peers
        self.apps = apps
        self.switches = switches
        self.history = history
        self.wallClock = wallClock
        self.core = core
    }

    /// Applies the configuration and the policy.
    func setOn(_ isOn: Bool) {
        guard isOn != peers.kept.isOn else { return }
        if !isOn {
            // The copies on other devices are void as well.
            withdrawAll { [self] in
                peers.kept.isOn = false
                core.control.offersChanged()
            }
        } else {
            peers.kept.isOn = true
            review()
        }
        log.info("Activities are \(isOn ? "" : "no longer ")kept")
        core.control.reviewChanges()
    }

    // MARK: - Local activities

    /// Handles a change of the local activities, or of the online members.
    func review() {
        guard peers.kept.isOn else { return }
        if machine.review(candidates(), now: loop.now) { push([]) }
        copyDue()
    }

    /// Copies what is due, if a member is online that may keep it.
    private func copyDue() {
        timer = nil
        guard let next = machine.nextDeadline, peers.kept.hasKeepers else { return }
        guard next <= loop.now else {
            timer = loop.timer(after: loop.now.duration(to: next), accuracy: .seconds(1)) { [unowned self] in copyDue()
            }
            return
        }
        push(copies(of: machine.due(at: loop.now)))
        copyDue()
    }

    /// Copies an activity at the request of its app, and before the app ends.
    func keepNow(_ activities: [LocalActivity]) {
        guard peers.kept.isOn else { return }
        _ = machine.review(candidates(), now: loop.now)
        let offers = Set(activities.filter { $0.keeping == .afterEnd }.compactMap(\.offer?.id))
        let new = copies(of: machine.pending.filter(offers.contains))
        if !new.isEmpty { push(new) }
    }

    /// Withdraws the copies of an activity that its app or the user has ended.
    func withdraw(_ handle: ActivityID) {
        guard peers.kept.isOn, machine.withdraw(handle) else { return }
        push([])
    }

    /// Withdraws a kept activity of this device that is no longer on offer.
    ///
    /// - Returns: its id; nil if not exactly one has an id with this beginning.
    func withdrawOwn(_ prefix: String) -> ActivityID? {
        let own = offers(isRecent: true).filter { $0.kept.origin == self.own }
        guard case .one(let found) = OfferSelection.choose(own, prefix: prefix, id: { $0.offer.activity.id }) else {
            return nil
        }
        let id = found.offer.activity.id
        if machine.withdrawOffer(id) {
            push([])
        } else {
            // It was kept by a former start, whose list this one cannot change.
            push([], firstGeneration: peers.position.generation)
        }
        return id
    }

    /// Sends the current state of all activities before this device goes offline.
    ///
    /// - Parameter completion: called once, after at most `timeout`.
    func keepAll(timeout: Duration, completion: @escaping () -> Void) {
        guard peers.kept.isOn, peers.kept.hasKeepers else { return completion() }
        var isDone = false
        let finish = { [self] (outcome: KeptSync.Outcome?) in
            guard !isDone else { return }
            isDone = true
            endTimer = nil
            if let outcome, !outcome.confirmed.isEmpty {
                log.notice("Activities are kept by other devices", ["devices": "\(outcome.confirmed.count)"])
            }
            completion()
        }
        endTimer = loop.timer(after: timeout) { finish(nil) }
        let candidates = self.candidates()
        var waiting = candidates.count + 1
        let saved = { [self] in
            waiting -= 1
            guard waiting == 0, !isDone else { return }
            _ = machine.review(self.candidates(), now: loop.now)
            let new = copies(of: machine.pending)
            guard !new.isEmpty else { return finish(nil) }
            push(new) { finish($0) }
        }
        for candidate in candidates { apps.saveForKeeping(candidate.handle, completion: saved) }
        saved()
    }

    private var endTimer: LoopTimer?

    private func withdrawAll(completion: @escaping () -> Void) {
        machine.withdrawAll()
        guard hasListed else { return completion() }
        push([], firstGeneration: peers.position.generation) { _ in completion() }
    }

    /// The local activities that may be kept, most recent first.
    private func candidates() -> [KeepingMachine.Candidate] {
        guard accountStore.snapshot.isCurrent, switches.allows(.advertise) else { return [] }
        return apps.offers().compactMap { offer in
            guard offer.recipient == nil, let activity = apps.offered(offer.activity.id),
                activity.keeping != .never, activity.content.type != .clipboard,
                switches.policy.forbids(activity.content.type) == nil
            else { return nil }
            return KeepingMachine.Candidate(
                offer: offer.activity.id, handle: activity.id, changes: activity.changes,
                staysAfterEnd: activity.keeping == .afterEnd)
        }
    }

    private func copies(of offers: [ActivityID]) -> [KeptRecord] {
        offers.compactMap { offer in
            guard let activity = apps.offered(offer), let copy = copy(of: activity, offer) else {
                machine.skipped(offer)
                return nil
            }
            machine.copied(offer, changes: activity.changes)
            return .copy(copy)
        }
    }

    private func copy(of activity: LocalActivity, _ offer: ActivityID) -> KeptCopy? {
        let payload = JSON.object(activity.content.encodedPayload(origin: activity.origin)).encoded()
        let stamp = nextStamp()
        var lifetime = KeptLimits.lifetime
        if let expiration = activity.content.expiration {
            let left = expiration - (wallClock.secondsSince1970 - ActivityDescription.epoch)
            guard left > 0 else { return nil }
            lifetime = min(lifetime, UInt64(min(left, Double(lifetime))) + 1)
        }
        do {
            return try KeptCopy(
                origin: own, stamp: stamp, activity: offer, end: stamp.time + lifetime, payload: payload, key: key)
        } catch {
            log.fault("Cannot sign a copy", ["error": "\(error)"])
            return nil
        }
    }

    /// Sends new copies, and the list of all.
    private func push(
        _ copies: [KeptRecord], firstGeneration: UInt64 = 1,
        completion: @escaping (KeptSync.Outcome) -> Void = { _ in }
    ) {
        let stamp = nextStamp()
        let list: KeptList?
        do {
            list = try KeptList(
                origin: own, stamp: stamp, firstGeneration: firstGeneration, end: stamp.time + KeptLimits.lifetime,
                activities: machine.activities, key: key)
        } catch {
            log.fault("Cannot sign a list", ["error": "\(error)"])
            return completion(KeptSync.Outcome())
        }
        hasListed = true
        defer { core.control.keptChanged() }
        // The list makes room for the copies.
        peers.kept.push((list.map { [.list($0)] } ?? []) + copies, completion: completion)
    }

    private func nextStamp() -> KeptStamp {
        lastTime = max(wallClock.unixSeconds, lastTime + 1)
        return KeptStamp(position: peers.position, time: lastTime)
    }

    // MARK: - Activities of other devices

    /// An offer of a device that is offline, or whose app has ended.
    struct KeptOffer {
        let offer: Offer
        let kept: KeptStore.Kept
        let state: ControlKept
    }

    /// The kept activities of other devices, most recently saved first.
    ///
    /// - Parameter isRecent: includes those of former generations, and of this device.
    func offers(isRecent: Bool = false) -> [KeptOffer] {
        guard peers.kept.isOn else { return [] }
        return peers.kept.store.activities.compactMap { kept in
            guard isRecent || kept.origin != own, let state = state(of: kept, isRecent: isRecent) else { return nil }
            let offer = Offer(of: kept.origin, keeping: kept.summary, saved: kept.saved)
            return KeptOffer(offer: offer, kept: kept, state: state)
        }
    }

    /// Returns the copy of an offer whose device does not answer, although it was online; nil if there
    /// is none.
    func copy(of offer: Offer) -> KeptOffer? {
        guard peers.kept.isOn, let kept = peers.kept.store.activity(offer.activity.id, of: offer.device) else {
            return nil
        }
        let asOf = wallClock.secondsSince1970 - seconds(kept.saved.duration(to: loop.now))
        return KeptOffer(offer: offer, kept: kept, state: ControlKept(.offline, since: nil, asOf: asOf))
    }

    private func state(of kept: KeptStore.Kept, isRecent: Bool) -> ControlKept? {
        let asOf = wallClock.secondsSince1970 - seconds(kept.saved.duration(to: loop.now))
        let generation = kept.stamp.position.generation
        guard kept.origin != own else {
            return apps.offered(kept.summary.id) == nil ? ControlKept(.ended, since: nil, asOf: asOf) : nil
        }
        let peer = peers.table[kept.origin]
        guard isRecent || generation == peers.table.seenGeneration(of: kept.origin) ?? generation else { return nil }
        guard let peer else {
            let since = peers.asleepSince(kept.origin).map { Double($0) }
            return ControlKept(since == nil ? .offline : .asleep, since: since, asOf: asOf)
        }
        guard !peer.offers.contains(where: { $0.activity.id == kept.summary.id }) else { return nil }
        guard !isRecent else { return ControlKept(.ended, since: nil, asOf: asOf) }
        // The list of kept activities may be older than the offers.
        guard peer.isComplete, let list = peers.kept.store.list(of: kept.origin),
            list.stamp.position.generation == peer.generation, list.stamp.position.seq >= peer.offersSeq ?? .max
        else { return nil }
        return ControlKept(.ended, since: nil, asOf: asOf)
    }

    private func seconds(_ duration: Duration) -> Double { duration / .seconds(1) }

    /// Creates the receipt of a kept activity that was continued here, and sends it towards the
    /// origin.
    func continued(_ kept: KeptStore.Kept) {
        guard kept.origin != own else { return }
        do {
            let receipt = try KeptReceipt(
                device: own, origin: kept.origin, activity: kept.summary.id, time: wallClock.unixSeconds, key: key)
            peers.kept.push([.receipt(receipt)])
        } catch {
            log.fault("Cannot sign a receipt", ["error": "\(error)"])
        }
    }

    /// Handles new records from other devices.
    func take(_ records: [KeptRecord]) {
        for case .receipt(let receipt) in records where receipt.origin == own { note(receipt) }
        core.control.offersChanged()
    }

    /// Notifies the app of an activity of this device that another device has continued it.
    private func note(_ receipt: KeptReceipt) {
        guard noted.count < Self.maxNoted, noted.insert(receipt).inserted else { return }
        log.notice("Was continued while offline", ["by": receipt.device.short])
        core.handover.wasContinued(receipt.activity, by: receipt.device, at: receipt.time)
    }
}
