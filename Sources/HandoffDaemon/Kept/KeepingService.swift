import HandoffAccount
import HandoffControl
import HandoffCrypto
import HandoffJSON
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import LoopIO

/// Sends copies of the activities of this device to the members that keep activities
/// (docs/protocol.md#kept-activities). Lives on the daemon's loop.
///
/// `KeepingMachine` decides what is copied, `ActivityCopier` copies it, and `KeptSync` exchanges the
/// copies.
final class KeepingService {
    /// The maximum time for which the sleep of the machine is delayed until its activities are kept.
    static let sleepTimeout = Duration.seconds(2)
    /// The maximum time for which the end of the daemon is delayed.
    static let stopTimeout = Duration.seconds(1)
    /// The average time between two lists that contain the same activities, and the maximum number of
    /// such lists without a delay.
    static let listInterval = Duration.seconds(1)
    static let maxListsAtOnce: UInt64 = 4
    /// The number of seconds by which the clock may be set forward without new copies.
    private static let maxClockChange = 3600.0

    private let loop: EventLoop
    private let log: Logger
    private let key: SigningKey
    private let own: DeviceID
    private let peers: Peers
    private let apps: AppService
    private let switches: SwitchController
    private let accountStore: AccountStore
    private let wallClock: any WallClock
    private let offers: KeptOffers
    private let receipts: KeptReceipts
    private let copier: ActivityCopier
    private unowned let core: DaemonCore
    private var machine = KeepingMachine()
    /// Whether the configuration and the policy allow to keep activities. `KeptSync` is switched off
    /// once the members have the withdrawal of the copies.
    private var isOn = false
    private var timer: LoopTimer?
    /// Waits until the next list may be sent that contains the same activities.
    private var listTimer: LoopTimer?
    private var lists = RateLimit(every: listInterval, burst: maxListsAtOnce)
    /// The number of messages with copies and lists that were not answered by all yet.
    private var sending = 0
    /// Called once all were answered.
    private var onSent: [() -> Void] = []
    private var lastPermission = Permission.paused
    /// True while what was on offer until the screen was locked is saved and copied.
    private var isCopyingLast = false
    /// True from the announcement of sleep or shutdown until the machine is awake. The copies stay as they
    /// are: before a shutdown, all apps end.
    private var isAsleep = false
    /// The activities that their apps have ended since.
    private var endedAsleep: Set<ActivityID> = []
    /// The first generation whose copies are not withdrawn.
    private var firstGeneration: UInt64 = 1
    /// The position of the last record, or of a later state in which offers were permitted.
    private var lastPosition: Position?
    /// The time of the last record. No time is used twice.
    private var lastTime: UInt64 = 0
    /// `clockStart` at the first copy, or when all were made again.
    private var copiedClockStart: Double?
    /// The number of the change of the offers in the last list.
    private var listedSeq: UInt32 = 0
    /// True once this device has sent a list, which later ones must replace.
    private var hasListed = false
    /// True while the copies of a former start are withdrawn, and after that.
    private var hasWithdrawnFormer = false

    init(
        loop: EventLoop, log: Logger, key: SigningKey, accountStore: AccountStore, peers: Peers, apps: AppService,
        switches: SwitchController, offers: KeptOffers, receipts: KeptReceipts, copier: ActivityCopier,
        wallClock: any WallClock,
        core: DaemonCore
    ) {
        self.loop = loop
        self.log = log
        self.key = key
        own = accountStore.deviceID
        self.accountStore = accountStore
        self.peers = peers
        self.apps = apps
        self.switches = switches
        self.offers = offers
        self.receipts = receipts
        self.copier = copier
        self.wallClock = wallClock
        self.core = core
    }

    /// Applies the configuration and the policy.
    func setOn(_ isOn: Bool) {
        guard isOn != self.isOn else { return }
        self.isOn = isOn
        if !isOn {
            lastPermission = .paused
            // The copies on other devices are void as well.
            withdrawAll { [self] in
                peers.kept.isOn = self.isOn
                core.control.offersChanged()
            }
        } else {
            peers.kept.isOn = true
            receipts.resume()
            review()
        }
        log.info("Activities are \(isOn ? "" : "no longer ")kept")
        core.control.reviewChanges()
    }

    // MARK: - Local activities

    /// True while a timer waits for the next copy.
    var isWaiting: Bool { timer != nil }

    /// Handles a change of the local activities, or of the online members.
    func review() {
        guard isOn else { return withdrawFormer() }
        let former = lastPermission
        lastPermission = permission
        if permission == .withdrawn { return withdrawOwn() }
        if isAsleep { return }
        // The screen was locked: the machine may sleep next, without another chance to copy what was
        // on offer until now.
        if permission == .paused, former == .allowed {
            isCopyingLast = true
            keep(timeout: Self.sleepTimeout, mayCopy: true) { [self] in isCopyingLast = false }
        }
        if permission == .allowed { lastPosition = peers.position }
        if reviewCandidates() { push([]) } else { renewList() }
        copyDue()
    }

    /// True if the offers have changed since the last list. Another device lists a closed activity once
    /// the list is as new as the offers, which lack it.
    private var isListOld: Bool {
        permission == .allowed && machine.hasClosed && listedSeq != peers.position.seq
    }

    /// Sends the same list again if it is old. Later, if apps change their offers often.
    private func renewList() {
        guard isOn, !isAsleep, isListOld, listTimer == nil else { return }
        guard lists.admit(at: loop.now) else {
            listTimer = loop.timer(after: loop.now.duration(to: lists.next)) { [unowned self] in
                listTimer = nil
                renewList()
            }
            return
        }
        push([])
    }

    private func reviewCandidates() -> Bool {
        // Other devices refused copies of the time before, which had expired by their clocks.
        let clockStart = clockStart
        if let former = copiedClockStart, clockStart - former > Self.maxClockChange {
            machine.renew(now: loop.now)
            copiedClockStart = clockStart
        }
        return machine.review(copier.candidates(), limit: copier.limit, now: loop.now) { [self] in copier.mayStay($0) }
    }

    /// The time at which this machine started, by its present clock, in seconds since 1970.
    private var clockStart: Double {
        wallClock.secondsSince1970 - Double(loop.now.nanoseconds) / 1e9
    }

    /// Copies what is due, if a member is online that may keep it.
    private func copyDue() {
        timer = nil
        guard permission == .allowed, !isAsleep, let next = machine.nextDeadline, peers.kept.hasKeepers else { return }
        guard next <= loop.now else {
            timer = loop.timer(after: loop.now.duration(to: next), accuracy: .seconds(1)) { [unowned self] in copyDue()
            }
            return
        }
        copy(machine.due(at: loop.now))
        copyDue()
    }

    /// Copies these offers, and sends the copies with the list of all.
    ///
    /// - Returns: false if there was nothing to send.
    @discardableResult private func copy(_ offers: [ActivityID]) -> Bool {
        let before = Set(machine.activities)
        let new = copies(of: offers)
        guard !new.isEmpty || Set(machine.activities) != before else { return false }
        push(new)
        return true
    }

    /// Copies an activity at the request of its app, and before the app ends.
    func keepNow(_ activities: [LocalActivity]) {
        let offers = Set(activities.filter { $0.keeping == .afterEnd }.compactMap(\.offer?.id))
        guard isOn, permission == .allowed, !isAsleep, !offers.isEmpty else { return }
        let hasChanged = reviewCandidates()
        if !copy(machine.pending(at: loop.now).filter(offers.contains)), hasChanged { push([]) }
    }

    /// Withdraws the copies of an activity that its app or the user has ended.
    func withdraw(_ handle: ActivityID) {
        guard !isAsleep else { return _ = endedAsleep.insert(handle) }
        guard isOn, machine.withdraw(handle) else { return }
        push([])
    }

    /// Handles the upcoming sleep or shutdown of the machine, or its end.
    func setAsleep(_ isAsleep: Bool) {
        self.isAsleep = isAsleep
        guard !isAsleep else { return }
        let ended = endedAsleep
        endedAsleep = []
        for handle in ended { withdraw(handle) }
        review()
    }

    /// Withdraws a kept activity of this device that is no longer on offer.
    ///
    /// - Returns: its id; nil if not exactly one has an id with this beginning.
    func withdrawOwn(_ prefix: String) -> ActivityID? {
        let own = offers.list(isRecent: true).filter { $0.kept.origin == self.own }
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

    /// Sends the current state of all activities before the daemon stops. Their ends, which follow, no
    /// longer withdraw the copies.
    ///
    /// - Parameter completion: called once, after at most `stopTimeout`.
    func stop(completion: @escaping () -> Void) {
        let finish = { [self] in
            isOn = false
            timer = nil
            listTimer = nil
            completion()
        }
        // They were sent before the shutdown, which has ended some apps already.
        if isAsleep { finish() } else { keepAll(timeout: Self.stopTimeout, completion: finish) }
    }

    /// Sends the current state of all activities before this device goes offline.
    ///
    /// - Parameter completion: called once, after at most `timeout`.
    func keepAll(timeout: Duration, completion: @escaping () -> Void) {
        guard isOn, peers.kept.hasKeepers else { return completion() }
        keep(timeout: timeout, mayCopy: permission == .allowed || isCopyingLast, completion: completion)
    }

    /// Has the apps save, and sends the copies of what has changed, the unconfirmed receipts, and what
    /// an online member has missed.
    ///
    /// - Parameter mayCopy: true to copy also if the offers are paused meanwhile.
    private func keep(timeout: Duration, mayCopy: Bool, completion: @escaping () -> Void) {
        var timers: [LoopTimer] = []
        var (isSending, isDone) = (false, false)
        let finish = { [self] (outcome: KeptSync.Outcome?) in
            guard !isDone else { return }
            isDone = true
            for timer in timers { timer.cancel() }
            timers = []
            if let outcome, !outcome.confirmed.isEmpty {
                log.notice("Activities are kept by other devices", ["devices": "\(outcome.confirmed.count)"])
            }
            completion()
        }
        let send = { [self] in
            guard !isSending, !isDone else { return }
            isSending = true
            let hasEnded = reviewCandidates()
            let before = Set(machine.activities)
            let new = mayCopy && permission != .withdrawn ? copies(of: machine.pending(at: loop.now)) : []
            let hasChanged = hasEnded || isListOld || before != Set(machine.activities)
            let again = { [self] in receipts.unconfirmed.map { KeptRecord.receipt($0) } }
            guard hasChanged || !new.isEmpty || !receipts.unconfirmed.isEmpty || peers.kept.hasMissed else {
                // An earlier sleep that was cancelled may still be sending them.
                guard sending > 0 else { return finish(nil) }
                return onSent.append { [self] in
                    guard !isDone, peers.kept.hasMissed else { return finish(nil) }
                    push([], again: again(), repeatsMissed: true) { finish($0) }
                }
            }
            push(new, again: again(), repeatsMissed: true) { finish($0) }
        }
        timers = [
            loop.timer(after: timeout) { finish(nil) },
            // An app that does not save must not prevent the copies of the others.
            loop.timer(after: timeout / 2) { send() },
        ]
        let candidates = mayCopy ? copier.candidates() : []
        var waiting = candidates.count + 1
        let saved = {
            waiting -= 1
            if waiting == 0 { send() }
        }
        for candidate in candidates { apps.saveForKeeping(candidate.handle, completion: saved) }
        saved()
    }

    private func withdrawAll(completion: @escaping () -> Void) {
        machine.withdrawAll()
        guard hasListed else { return completion() }
        push([], firstGeneration: peers.position.generation) { _ in completion() }
    }

    /// Handles a greater generation of this start. The lists of the new one apply only to its own copies.
    func generationRose() {
        guard isOn else { return }
        machine.withdrawAll()
        push([], firstGeneration: peers.position.generation)
        review()
    }

    /// Withdraws the copies of this start and of former ones.
    private func withdrawOwn() {
        timer = nil
        // The members may have copies that are not stored here, for lack of lockable memory.
        let hasCopies = !machine.activities.isEmpty
        machine.withdrawAll()
        guard hasCopies || peers.kept.store.activities.contains(where: { $0.origin == own }) else { return }
        push([], firstGeneration: peers.position.generation)
    }

    /// Withdraws the copies of a former start that kept activities. The first members that announce
    /// records forward the list to the others.
    private func withdrawFormer() {
        guard !peers.kept.isOn, !hasWithdrawnFormer, !peers.kept.holders.isEmpty,
            let list = list([], firstGeneration: peers.position.generation, nextStamp())
        else { return }
        hasWithdrawnFormer = true
        peers.kept.withdraw(.list(list)) { [weak self] in self?.hasWithdrawnFormer = !$0.confirmed.isEmpty }
    }

    /// Whether other devices may keep local activities.
    private enum Permission {
        case allowed
        /// Nothing is advertised now, because of the session or the network. The copies of what was
        /// advertised before stay: most devices are locked before they sleep.
        case paused
        /// Advertising is switched off, also if only for one device: the others could send it a copy.
        case withdrawn
    }

    private var permission: Permission {
        if switches.isSwitchedOff(.advertise) || !switches.unadvertised.isDisjoint(with: accountStore.snapshot.others) {
            return .withdrawn
        }
        return accountStore.snapshot.isCurrent && switches.allows(.advertise) ? .allowed : .paused
    }

    private func copies(of offers: [ActivityID]) -> [KeptRecord] {
        var made: [(offer: ActivityID, copies: [KeptCopy])] = []
        for offer in offers {
            let new = apps.offered(offer).flatMap { activity in
                copier.copies(of: activity, offer, isUnchanged: machine.isUnchanged(offer)) { nextStamp() }
            }
            machine.handled(
                offer,
                size: new.map { copies in
                    KeepingMachine.Size(
                        copies: copies.count, bytes: copies.reduce(0) { $0 + KeptLimits.size($1.payload.count) })
                }, at: loop.now)
            if let new {
                made.append((offer, new))
                copiedClockStart = copiedClockStart ?? clockStart
                // A receipt may arrive after the activity has another offer.
                if let activity = apps.offered(offer) { core.handover.willKeep(offer, activity.id) }
            }
        }
        let listed = Set(machine.activities)
        return made.filter { listed.contains($0.offer) }.flatMap { $0.copies.map { KeptRecord.copy($0) } }
    }

    /// Sends new copies, and the list of all.
    private func push(
        _ copies: [KeptRecord], firstGeneration: UInt64 = 1, again: [KeptRecord] = [], repeatsMissed: Bool = false,
        completion: @escaping (KeptSync.Outcome) -> Void = { _ in }
    ) {
        let stamp = nextStamp()
        // Each later list repeats it, because only the last one is kept.
        self.firstGeneration = max(self.firstGeneration, firstGeneration)
        let listed = machine.activities.flatMap { offer in
            (0..<machine.copies(of: offer)).map { KeptPart.activity(of: offer, number: $0) }
        }
        guard let list = list(listed, firstGeneration: self.firstGeneration, stamp) else {
            return completion(KeptSync.Outcome())
        }
        hasListed = true
        defer { core.control.keptChanged() }
        listedSeq = stamp.position.seq
        listTimer = nil
        sending += 1
        // The list makes room for the copies.
        peers.kept.push([.list(list)] + copies, again: again, repeatsMissed: repeatsMissed) { [weak self] outcome in
            for case .receipt(let receipt) in again { self?.receipts.note(outcome, of: receipt) }
            self?.sent()
            completion(outcome)
        }
    }

    private func list(_ activities: [ActivityID], firstGeneration: UInt64, _ stamp: KeptStamp) -> KeptList? {
        do {
            return try KeptList(
                origin: own, stamp: stamp, firstGeneration: firstGeneration, end: stamp.time + KeptLimits.lifetime,
                activities: activities, key: key)
        } catch {
            log.fault("Cannot sign a list", ["error": "\(error)"])
            return nil
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
        // While nothing may be offered, the list must not be as new as the offers: the others would list
        // the activities as closed.
        if permission != .paused || lastPosition?.generation != peers.position.generation {
            lastPosition = peers.position
        }
        return KeptStamp(position: lastPosition ?? peers.position, time: lastTime)
    }

    /// Handles new records from other devices, the end of old ones, and members that now keep activities.
    func take(_ records: [KeptRecord]) {
        review()
        for case .receipt(let receipt) in records { receipts.note(receipt) }
        core.control.offersChanged()
    }
}
