import HandoffAccount
import HandoffControl
import HandoffCrypto
import HandoffJSON
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import LoopIO

/// Copies the activities of this device for the members that keep activities
/// (docs/protocol.md#kept-activities). Lives on the daemon's loop.
///
/// `KeepingMachine` decides what is copied, and `KeptSync` exchanges the copies.
final class KeepingService {
    /// The maximum time for which the sleep of the machine is delayed until its activities are kept.
    static let sleepTimeout = Duration.seconds(2)
    /// The maximum time for which the end of the daemon is delayed.
    static let stopTimeout = Duration.seconds(1)
    /// The average time between two lists that contain the same activities, and the maximum number of
    /// such lists without a delay.
    static let listInterval = Duration.seconds(1)
    static let maxListsAtOnce: UInt64 = 4
    /// The maximum number of bytes that the name of its file adds to a payload.
    private static let maxAddition = 2048

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
    /// The first generation whose copies are not withdrawn.
    private var firstGeneration: UInt64 = 1
    /// The position of the last record, or of a later state in which offers were permitted.
    private var lastPosition: Position?
    /// The time of the last record. No time is used twice.
    private var lastTime: UInt64 = 0
    /// The number of the change of the offers in the last list.
    private var listedSeq: UInt32 = 0
    /// True once this device has sent a list, which later ones must replace.
    private var hasListed = false
    /// True while the copies of a former start are withdrawn, and after that.
    private var hasWithdrawnFormer = false

    init(
        loop: EventLoop, log: Logger, key: SigningKey, accountStore: AccountStore, peers: Peers, apps: AppService,
        switches: SwitchController, offers: KeptOffers, receipts: KeptReceipts, wallClock: any WallClock,
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
        guard isOn, isListOld, listTimer == nil else { return }
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
        machine.review(candidates(), limit: limit, now: loop.now) { [self] in mayStay($0) }
    }

    /// Copies what is due, if a member is online that may keep it.
    private func copyDue() {
        timer = nil
        guard permission == .allowed, let next = machine.nextDeadline, peers.kept.hasKeepers else { return }
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
    /// - Returns: false if there was nothing to send, and `completion` is not called.
    @discardableResult private func copy(
        _ offers: [ActivityID], completion: @escaping (KeptSync.Outcome) -> Void = { _ in }
    ) -> Bool {
        let before = Set(machine.activities)
        let new = copies(of: offers)
        guard !new.isEmpty || Set(machine.activities) != before else { return false }
        push(new, completion: completion)
        return true
    }

    /// Copies an activity at the request of its app, and before the app ends.
    func keepNow(_ activities: [LocalActivity]) {
        let offers = Set(activities.filter { $0.keeping == .afterEnd }.compactMap(\.offer?.id))
        guard isOn, permission == .allowed, !offers.isEmpty else { return }
        let hasChanged = reviewCandidates()
        if !copy(machine.pending(at: loop.now).filter(offers.contains)), hasChanged { push([]) }
    }

    /// Withdraws the copies of an activity that its app or the user has ended.
    func withdraw(_ handle: ActivityID) {
        guard isOn, machine.withdraw(handle) else { return }
        push([])
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
        keepAll(timeout: Self.stopTimeout) { [self] in
            isOn = false
            timer = nil
            listTimer = nil
            completion()
        }
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
        let candidates = mayCopy ? self.candidates() : []
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

    /// The local activities that may be kept, most recent first.
    private func candidates() -> [KeepingMachine.Candidate] {
        apps.offers().compactMap { offer in
            guard let activity = apps.offered(offer.activity.id),
                activity.keeping == .afterEnd || activity.keeping == .whileOffered && offer.recipient == nil
            else { return nil }
            let candidate = KeepingMachine.Candidate(
                offer: offer.activity.id, handle: activity.id,
                app: apps.registry.session(activity.session)?.app ?? "", type: activity.content.type,
                changes: activity.changes, staysAfterEnd: activity.keeping == .afterEnd && offer.recipient == nil,
                isSent: offer.recipient != nil)
            return mayKeep(candidate) ? candidate : nil
        }
    }

    /// Returns whether other devices may keep the activities of an app and of a type.
    private func mayKeep(_ candidate: KeepingMachine.Candidate) -> Bool {
        candidate.type != .clipboard && switches.policy.forbids(candidate.type) == nil
            && core.isEnabled(candidate.app) && core.isKept(candidate.app)
    }

    /// Returns whether other devices may keep an activity that is no longer on offer.
    private func mayStay(_ candidate: KeepingMachine.Candidate) -> Bool {
        guard mayKeep(candidate) else { return false }
        guard let activity = apps.store.activity(candidate.handle) else { return true }
        return activity.keeping == .afterEnd && activity.content.isEligibleForHandoff
    }

    /// The maximum size of all copies of this device: a keeper refuses those above it.
    private var limit: Int { KeptLimits.payloadShare(members: accountStore.snapshot.live.count) }

    private func copies(of offers: [ActivityID]) -> [KeptRecord] {
        var made: [(offer: ActivityID, copies: [KeptCopy])] = []
        for offer in offers {
            let new = apps.offered(offer).flatMap { copies(of: $0, offer) }
            machine.handled(
                offer,
                size: new.map { copies in
                    KeepingMachine.Size(
                        copies: copies.count, bytes: copies.reduce(0) { $0 + KeptLimits.size($1.payload.count) })
                }, at: loop.now)
            if let new {
                made.append((offer, new))
                // A receipt may arrive after the activity has another offer.
                if let activity = apps.offered(offer) { core.handover.willKeep(offer, activity.id) }
            }
        }
        let listed = Set(machine.activities)
        return made.filter { listed.contains($0.offer) }.flatMap { $0.copies.map { KeptRecord.copy($0) } }
    }

    /// Returns the copies of an activity, several for an item with a large file; nil if no device could
    /// continue it now.
    private func copies(of activity: LocalActivity, _ offer: ActivityID) -> [KeptCopy]? {
        guard activity.recipient != nil || activity.bytes <= apps.payloadLimit,
            activity.content.missingRequiredKeys.isEmpty, let payloads = payloads(of: activity, offer)
        else { return nil }
        var lifetime = KeptLimits.lifetime
        if let expiration = activity.content.expiration {
            let left = expiration - (wallClock.secondsSince1970 - ActivityDescription.epoch)
            guard left > 0 else { return nil }
            lifetime = min(lifetime, UInt64(min(left, Double(lifetime))) + 1)
        }
        do {
            var copies: [KeptCopy] = []
            for (number, payload) in payloads.enumerated() {
                let stamp = nextStamp()
                let copy = try KeptCopy(
                    origin: own, stamp: stamp, activity: KeptPart.activity(of: offer, number: number),
                    end: stamp.time + lifetime, payload: payload, key: key)
                guard let copy else { return nil }
                copies.append(copy)
            }
            return copies
        } catch {
            log.fault("Cannot sign a copy", ["error": "\(error)"])
            return nil
        }
    }

    /// Returns the payload of the copy of an activity, or the sealed parts if it is sent to one device;
    /// nil if it cannot be sealed.
    private func payloads(of activity: LocalActivity, _ offer: ActivityID) -> [[UInt8]]? {
        guard let recipient = activity.recipient else {
            return [JSON.object(activity.content.encodedPayload(origin: activity.origin)).encoded()]
        }
        // The same version, because a keeper may receive only some of the parts before this device sleeps.
        if machine.isUnchanged(offer), let first = peers.kept.store.activity(offer, of: own)?.part,
            let parts = peers.kept.store.parts(of: first, from: own)
        {
            return parts.map(\.payload)
        }
        var content = activity.content
        if let kept = activity.keptContent {
            guard kept.isComplete else { return nil }
            content.userInfo = ["name": .string(kept.name)]
            content.supportsStreams = false
        }
        let item = KeptItemContent.encode(
            payload: JSON.object(content.encodedPayload(origin: activity.origin)).encoded(),
            content: activity.keptContent?.bytes ?? [])
        guard let item else { return nil }
        return try? accountStore.snapshot.seal(with: recipient, sender: own, key: key)?.seal(
            item, offer, for: recipient)
    }

    /// Returns the reason why a file of this size cannot be kept with the other items that were sent; nil
    /// if it can.
    func refusal(ofFile size: Int, for id: ActivityID) -> String? {
        func bytes(_ activity: LocalActivity, _ content: Int) -> [Int] {
            KeptPart.sizes(KeptItemContent.size(payload: activity.bytes + Self.maxAddition, content: content))
                .map { KeptLimits.size($0) }
        }
        guard isOn else { return "this device has no activities kept" }
        guard let activity = apps.store.activity(id) else { return nil }
        // First, because a client can state any size.
        let mine = size <= limit ? bytes(activity, size) : []
        let members = accountStore.snapshot.live.count
        guard size <= limit, mine.reduce(0, +) <= limit else {
            return "it has \(ByteText.text(Int64(size))), and the limit in an account of \(members) devices is "
                + "\(ByteText.text(Int64(KeptPart.maxItem(share: limit))))"
        }
        let others = apps.store.all
            .filter { $0.id != id && $0.recipient != nil && $0.keeping == .afterEnd }
            .filter { $0.offer != nil || $0.keptContent != nil }
            .flatMap { bytes($0, $0.keptContent?.size ?? 0) }
        guard (mine + others).reduce(0, +) <= limit, mine.count + others.count <= KeptLimits.maxCopies else {
            return "the items that are kept already leave too little of the limit of "
                + "\(ByteText.text(Int64(KeptPart.maxItem(share: limit)))) and \(KeptLimits.maxCopies) copies"
        }
        return nil
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
