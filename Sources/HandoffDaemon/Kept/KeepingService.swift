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
    private let folder: StateFolder
    private let worker: Worker
    /// The receipts of this device that their origins have not confirmed.
    private var unconfirmed: Set<KeptReceipt>
    private unowned let core: DaemonCore
    private var machine = KeepingMachine()
    private var timer: LoopTimer?
    /// True once `stop` was called. Nothing is copied or withdrawn afterwards.
    private var isStopped = false
    private var isSendingLast = false
    /// The number of messages with copies and lists that were not answered by all yet.
    private var sending = 0
    /// Called once all were answered.
    private var onSent: [() -> Void] = []
    private var onLastSent: (() -> Void)?
    /// The time of the last record. No time is used twice.
    private var lastTime: UInt64 = 0
    /// True once this device has sent a list, which later ones must replace.
    private var hasListed = false
    /// The receipts of this device's activities that their apps were notified of.
    private var noted: Set<KeptReceipt> = []
    /// The opened activities that were sent to this device.
    private var items: [ActivityID: Item] = [:]

    init(
        loop: EventLoop, worker: Worker, log: Logger, stored: StoredState, accountStore: AccountStore, peers: Peers,
        apps: AppService,
        switches: SwitchController, history: History, wallClock: any WallClock, core: DaemonCore
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
            withdrawAll { [peers] in peers.kept.isOn = false }
        } else {
            peers.kept.isOn = true
            // Of an earlier start. Those that are too old, or of another account, are dropped.
            let oldest = wallClock.unixSeconds - min(wallClock.unixSeconds, KeptLimits.lifetime)
            unconfirmed = unconfirmed.filter { $0.time >= oldest && accountStore.snapshot.live.contains($0.origin) }
            peers.kept.push(unconfirmed.map { .receipt($0) })
            review()
        }
        log.info("Activities are \(isOn ? "" : "no longer ")kept")
    }

    // MARK: - Local activities

    /// Handles a change of the local activities, or of the online members.
    func review() {
        guard peers.kept.isOn, !isPaused else { return }
        if reviewCandidates() { push([]) }
        copyDue()
    }

    /// Copies what is due, if a member is online that may keep it.
    private func copyDue() {
        timer = nil
        guard let next = machine.nextDeadline, peers.kept.hasKeepers, !isPaused else { return }
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
        guard peers.kept.isOn, !isPaused else { return }
        _ = reviewCandidates()
        let offers = Set(activities.filter { $0.keeping == .afterEnd }.compactMap(\.offer?.id))
        let new = copies(of: machine.pending.filter(offers.contains))
        if !new.isEmpty { push(new) }
    }

    /// Withdraws the copies of an activity that its app or the user has ended.
    func withdraw(_ handle: ActivityID) {
        guard peers.kept.isOn, !isStopped, machine.withdraw(handle) else { return }
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

    /// Sends the current state of all activities before this device sleeps.
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
            if !isPaused { _ = reviewCandidates() }
            let new = copies(of: machine.pending)
            guard !new.isEmpty || !unconfirmed.isEmpty else {
                // An earlier sleep that was cancelled may still be sending them.
                return sending == 0 ? finish(nil) : onSent.append { finish(nil) }
            }
            push(new, again: unconfirmed.map { .receipt($0) }) { finish($0) }
        }
        for candidate in candidates { apps.saveForKeeping(candidate.handle, completion: saved) }
        saved()
    }

    private var endTimer: LoopTimer?

    /// Sends the current state of all activities before this device stops, as last saved. Call it
    /// before the connections of apps end: what they end afterwards stays kept.
    func stop() {
        guard peers.kept.isOn, !isStopped else { return }
        if !isPaused { _ = reviewCandidates() }
        let new = copies(of: machine.pending)
        isStopped = true
        guard !new.isEmpty || !unconfirmed.isEmpty, peers.kept.hasKeepers else { return }
        isSendingLast = true
        push(new, again: unconfirmed.map { .receipt($0) }) { [self] _ in
            isSendingLast = false
            onLastSent?()
        }
    }

    /// Waits until other devices have received what `stop` sent.
    ///
    /// - Parameter completion: called once, after at most `stopTimeout`.
    func finish(completion: @escaping () -> Void) {
        stop()
        guard isSendingLast else { return completion() }
        let finish = { [self] in
            endTimer = nil
            onLastSent = nil
            completion()
        }
        endTimer = loop.timer(after: Self.stopTimeout) { finish() }
        onLastSent = finish
    }

    private func withdrawAll(completion: @escaping () -> Void) {
        machine.withdrawAll()
        guard hasListed else { return completion() }
        push([], firstGeneration: peers.position.generation) { _ in completion() }
    }

    /// True once this device stops, and while only the session or the network forbids advertising,
    /// such as a locked screen. The copies stay, because such a device usually goes to sleep next.
    /// Nothing new is copied, and no list is sent, which would make other devices show the copies
    /// while this device is online.
    private var isPaused: Bool {
        guard !isStopped else { return true }
        let holds = switches.shown.holds.filter { $0.direction == .advertise && $0.device == nil }
        return !holds.isEmpty && holds.allSatisfy { $0.author == .session || $0.author == .network }
    }

    /// Returns true if a copied activity has ended, or is no longer on offer.
    private func reviewCandidates() -> Bool {
        let endedStay = switches.allows(.advertise) && switches.unadvertised.isEmpty
        return machine.review(candidates(), endedStay: endedStay, now: loop.now)
    }

    /// The local activities that may be kept, most recent first. Any member passes a copy to all
    /// others. Therefore nothing that all can read is copied while one must not receive offers.
    private func candidates() -> [KeepingMachine.Candidate] {
        guard accountStore.snapshot.isCurrent, switches.allows(.advertise) else { return [] }
        let isForAll = switches.unadvertised.isEmpty
        return apps.offers().compactMap { offer in
            guard isForAll || offer.recipient != nil, let activity = apps.offered(offer.activity.id),
                activity.keeping == .afterEnd || activity.keeping == .whileOffered && offer.recipient == nil,
                activity.content.type != .clipboard,
                switches.policy.forbids(activity.content.type) == nil
            else { return nil }
            return KeepingMachine.Candidate(
                offer: offer.activity.id, handle: activity.id, changes: activity.changes,
                staysAfterEnd: activity.keeping == .afterEnd && offer.recipient == nil)
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
        guard let payload = payload(of: activity, offer) else { return nil }
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

    /// Returns the payload of a copy, sealed if the activity is sent to one device; nil if it cannot be
    /// sealed.
    private func payload(of activity: LocalActivity, _ offer: ActivityID) -> [UInt8]? {
        var content = activity.content
        if let userInfo = activity.keptUserInfo {
            content.userInfo = userInfo
            content.supportsStreams = false
        }
        let payload = JSON.object(content.encodedPayload(origin: activity.origin)).encoded()
        guard let recipient = activity.recipient else { return payload }
        guard let sealed = try? seal(with: recipient, sender: own)?.seal(payload, offer) else { return nil }
        let outer: JSONObject = [
            "to": .string(recipient.hex), "sealed": .object(["$data": .string(Base64.encode(sealed))]),
        ]
        return JSON.object(ActivityContent(type: .sealed, userInfo: outer).encodedPayload()).encoded()
    }

    private func seal(with other: DeviceID, sender: DeviceID) throws -> KeptSeal? {
        let snapshot = accountStore.snapshot
        guard let accountID = snapshot.accountID, let otherKey = snapshot.peerKey(other) else { return nil }
        return KeptSeal(try PairwiseKeys(device: key, device: otherKey, accountID: accountID), sender: sender)
    }

    /// Sends new copies, and the list of all.
    private func push(
        _ copies: [KeptRecord], firstGeneration: UInt64 = 1, again: [KeptRecord] = [],
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
        // The list makes room for the copies.
        sending += 1
        peers.kept.push((list.map { [.list($0)] } ?? []) + copies, again: again) { [weak self] outcome in
            for case .receipt(let receipt) in again { self?.note(outcome, of: receipt) }
            self?.sent()
            completion(outcome)
        }
    }

    private func sent() {
        sending -= 1
        guard sending == 0 else { return }
        let waiting = onSent
        onSent = []
        for each in waiting { each() }
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
        /// The payload that was sealed for this device; nil if the copy is not sealed.
        var opened: LockedBytes?

        /// The payload, in ordinary memory.
        var payload: [UInt8] { opened?.bytes ?? kept.payload }
    }

    /// The kept activities of other devices, most recently saved first.
    ///
    /// - Parameter isRecent: includes those of former generations, and of this device.
    func offers(isRecent: Bool = false) -> [KeptOffer] {
        guard peers.kept.isOn else { return [] }
        return peers.kept.store.activities.compactMap { kept in
            guard isRecent || kept.origin != own, let state = state(of: kept, isRecent: isRecent) else { return nil }
            guard kept.summary.type == .sealed else {
                let offer = Offer(of: kept.origin, keeping: kept.summary, saved: kept.saved)
                return KeptOffer(offer: offer, kept: kept, state: state)
            }
            guard let item = item(in: kept) else { return nil }
            let offer = Offer(of: kept.origin, keeping: item.summary, saved: kept.saved)
            return KeptOffer(offer: offer, kept: kept, state: state, opened: item.payload)
        }
    }

    /// An activity that was sent to this device, and kept by another one.
    private struct Item {
        let stamp: KeptStamp
        let summary: ActivitySummary
        let payload: LockedBytes
    }

    /// Returns the activity in a sealed copy; nil if it is for another device, or was accepted here.
    private func item(in kept: KeptStore.Kept) -> Item? {
        let id = kept.summary.id
        let isAccepted = peers.kept.store.allReceipts.contains {
            $0.device == own && $0.origin == kept.origin && $0.activity == id
        }
        guard !isAccepted else { return nil }
        if let item = items[id], item.stamp == kept.stamp { return item }
        guard case .success(let outer) = Payload.decode(kept.payload, from: ""),
            outer.content.userInfo["to"]?.string == own.hex,
            let sealed = outer.content.userInfo["sealed"]?.object?["$data"]?.string.flatMap(Base64.decode),
            let opened = try? seal(with: kept.origin, sender: kept.origin)?.open(sealed, id),
            case .success(let payload) = Payload.decode(opened, from: ""), let bytes = LockedBytes(opened)
        else { return nil }
        let content = payload.content
        let summary = ActivitySummary(
            id: id, type: content.type, title: content.title, team: content.team,
            supportsStreams: content.supportsStreams, hasWebpageURL: content.webpageURL != nil, age: kept.summary.age,
            isSent: true)
        items = items.filter { entry in peers.kept.store.activities.contains { $0.summary.id == entry.key } }
        items[id] = Item(stamp: kept.stamp, summary: summary, payload: bytes)
        return items[id]
    }

    /// Returns the copy of an offer whose device does not answer, although it was online; nil if there
    /// is none.
    func copy(of offer: Offer) -> KeptOffer? {
        guard peers.kept.isOn, let kept = peers.kept.store.activity(offer.activity.id, of: offer.device),
            kept.summary.type != .sealed
        else { return nil }
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

    private func seconds(_ duration: Duration) -> Double { Double(duration.components.seconds) }

    /// Creates the receipt of a kept activity that was continued here, and sends it towards the
    /// origin.
    func continued(_ kept: KeptStore.Kept) {
        guard kept.origin != own else { return }
        do {
            let receipt = try KeptReceipt(
                device: own, origin: kept.origin, activity: kept.summary.id, time: wallClock.unixSeconds, key: key)
            unconfirmed.insert(receipt)
            storeReceipts()
            peers.kept.push([.receipt(receipt)]) { [weak self] in self?.note($0, of: receipt) }
        } catch {
            log.fault("Cannot sign a receipt", ["error": "\(error)"])
        }
    }

    /// Forgets a receipt that its origin has confirmed. Until then it is stored, since this device may
    /// end before another one has it.
    private func note(_ outcome: KeptSync.Outcome, of receipt: KeptReceipt) {
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
