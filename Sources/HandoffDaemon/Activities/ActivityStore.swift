package import HandoffControl
package import HandoffModel
package import HandoffProtocol
import LoopIO

/// The local activities: their publishers, which are current, and which owners must save.
///
/// Plain values with time as a parameter; semantics of `NSUserActivity`. Lives on the daemon's
/// loop.
///
/// ```
///           becomeCurrent / offersChanged under a new id, save if there are changes
/// published ───────────────────────────────────────────────────────────────────────► current
///   │   ▲                                                                             │   │
///   │   └─────────────────────────────────────────────────────────────────────────────┘   │
///   │          resign, or another of its session becomes current / offersChanged          │
///   └──────────────────────────────► ended ◄──────────────────────────────────────────────┘
/// ```
///
/// An activity ends with `invalidate` and with its session. It also ends when the user withdraws it;
/// while it is current, when it expires or is not updated for the configured time; and while it is
/// only published, when a 65th of its session is published and its last use is the oldest. In these
/// cases `withdrawn` reports it. A handle does not change. An offered id ends permanently with its
/// withdrawal.
///
/// A second state tracks whether the daemon must request the activity's content from its owner:
///
/// ```
///        update(needsSave)           occasion
/// clean ───────────────────► needed ───────────► requested
///   ▲                          ▲                    │   │
///   │                          └── timeout ─────────┘   │
///   └──────────── AnswerSave (needed, if it has needsSave)
/// ```
///
/// The occasions are a request of another device and, without `savesOnContinue`, also that the
/// activity becomes current, and the refresh interval after the last answer (15 s by default).
/// `needsSave` is cleared before the request to the owner, not after its answer: changes in between
/// set it again.
package struct ActivityStore: Sendable {
    /// An action that must follow a change.
    package enum Effect: Equatable, Sendable {
        /// A save request must be sent to the owner. `isForUser`: another device waits for the state.
        case requestSave(ActivityID, isForUser: Bool = false)
        /// The local offers have changed.
        case offersChanged
        /// The activity ended without a request of its owner.
        case withdrawn(ActivityID, session: SessionID)
    }

    /// The reason why an owner's call is refused.
    package enum Refusal: Error, Equatable, Sendable {
        /// The activity does not exist, or belongs to another session.
        case unknown(ActivityID)
        /// The app has the maximum number of activities, over all of its sessions.
        case tooManyOfApp
        /// The maximum number of activities is reached.
        case tooManyOfAll
        /// The activities of the app use the maximum memory of one app.
        case tooMuchOfApp
        /// All activities together use the maximum memory.
        case tooMuchOfAll
    }

    /// The maximum number of activities of one session. A further one replaces the activity that is
    /// not current and whose last use is the oldest. An app needs a few; only a leak reaches the
    /// limit.
    package static let maxPerSession = 64
    /// The maximum number of activities of all sessions together, to bound the daemon's memory.
    static let maximum = 4096
    /// The maximum size of all payloads together in bytes. Apps in a sandbox may publish too.
    package static let maxBytes = 64 * 1024 * 1024
    /// The share of one app in both limits, over all of its processes and sessions, so that others
    /// have room.
    package static let maxPerApp = maximum / 4
    package static let maxBytesPerApp = maxBytes / 4

    /// The factor of the refresh interval while power is saved. A device that continues an activity
    /// still requests a save.
    private static let slowness = 8

    /// The minimum time for which an activity stays on offer after sleep.
    private static let graceAfterSleep = Duration.seconds(600)

    /// The configured interval between periodic save requests, 15 s by default.
    var usualInterval: Duration
    /// Whether deferrable work is delayed to save power.
    package var savesPower = false
    /// The interval between periodic save requests in force.
    var refreshInterval: Duration { savesPower ? usualInterval * Self.slowness : usualInterval }
    /// The time for which an activity without an expiration date stays on offer after its owner's
    /// last update; nil: without limit.
    var lifetime: Duration?
    /// True while the machine goes to sleep, and sleeps: no lifetime ends.
    private var isSuspended = false
    private var entries: [ActivityID: LocalActivity] = [:]
    private var byOffer: [ActivityID: ActivityID] = [:]
    /// The number of uses of all activities so far.
    private var uses: UInt64 = 0

    /// A store without activities.
    package init(refreshInterval: Duration, lifetime: Duration? = nil) {
        usualInterval = refreshInterval
        self.lifetime = lifetime
    }

    /// The number of activities, current or not.
    package var count: Int { entries.count }

    /// Returns the activity with the owner's handle `id`.
    package func activity(_ id: ActivityID) -> LocalActivity? { entries[id] }

    /// Returns the activity that is on offer under `offer`; nil once it was withdrawn.
    package func offered(_ offer: ActivityID) -> LocalActivity? {
        byOffer[offer].flatMap { entries[$0] }
    }

    /// All activities: those on offer first, then by last use, most recent first.
    package var all: [LocalActivity] {
        entries.values.sorted { ($0.offer == nil ? 1 : 0, $1.lastUse) < ($1.offer == nil ? 1 : 0, $0.lastUse) }
    }

    /// Returns the handles of a session's activities.
    package func activities(of session: SessionID) -> [ActivityID] {
        entries.values.filter { $0.session == session }.map(\.id)
    }

    /// Adds an activity that is not yet current.
    ///
    /// - Parameters:
    /// - group: the app that it counts for.
    /// - origin: the app as named in the payload.
    /// - recipient: the device that it is sent to; nil offers it to all.
    /// - bytes: the size of its encoded payload.
    /// - Returns: the withdrawal of the activity that it replaces, if any.
    @discardableResult package mutating func publish(
        _ content: ActivityContent, id: ActivityID, session: SessionID, group: ClientGroup,
        origin: PayloadOrigin = PayloadOrigin(), needsSave: Bool, answersSaves: Bool, savesOnContinue: Bool = false,
        keeping: KeepRule = .whileOffered, afterwards: Afterwards = .stay, recipient: DeviceID? = nil,
        bytes: Int = 0
    ) throws(Refusal) -> [Effect] {
        let leaving = activityThatLeaves(session)
        let others = entries.count - (leaving == nil ? 0 : 1)
        let ofApp = entries.values.count { $0.group == group && $0.id != leaving?.id }
        guard ofApp < Self.maxPerApp else { throw .tooManyOfApp }
        guard others < Self.maximum else { throw .tooManyOfAll }
        try checkRoom(for: bytes - (leaving?.allBytes ?? 0), of: group)
        if let leaving { remove(leaving.id) }
        uses += 1
        entries[id] = LocalActivity(
            id: id, session: session, group: group, origin: origin, recipient: recipient, bytes: bytes,
            answersSaves: answersSaves, savesOnContinue: savesOnContinue, keeping: keeping, afterwards: afterwards,
            content: content,
            needsSave: needsSave && answersSaves, lastUse: uses)
        return leaving.map { [.withdrawn($0.id, session: session)] } ?? []
    }

    /// The activity that a further one of the session would replace; nil while there is room.
    private func activityThatLeaves(_ session: SessionID) -> LocalActivity? {
        let mine = entries.values.filter { $0.session == session }
        guard mine.count >= Self.maxPerSession else { return nil }
        return mine.filter { $0.offer == nil }.min { $0.lastUse < $1.lastUse }
    }

    /// Makes an activity the current one of its session, and resigns the previous one.
    ///
    /// An activity that is sent to one device does not change the current one. It is offered in
    /// addition to the current activity and to others that are sent, until it is resigned or ends.
    ///
    /// - Parameter offer: the random id of its offer, unless it is already current.
    package mutating func becomeCurrent(
        _ id: ActivityID, session: SessionID, offer: ActivityID, now: MonotonicInstant
    ) throws(Refusal) -> [Effect] {
        var entry = try owned(id, by: session)
        guard entry.offer == nil else { return [] }
        if entry.recipient == nil {
            for other in entries.values
            where other.session == session && other.offer != nil && other.recipient == nil {
                withdrawOffer(of: other.id)
            }
        }
        uses += 1
        entry.offer = (offer, now)
        entry.lastUse = uses
        entry.lastUpdate = now
        entry.wasOffered = true
        entries[id] = entry
        byOffer[offer] = id
        return [.offersChanged] + (entry.savesOnContinue ? [] : requestSave(of: id, now: now))
    }

    /// Withdraws the offer of an activity without ending the activity.
    package mutating func resign(_ id: ActivityID, session: SessionID) throws(Refusal) -> [Effect] {
        let entry = try owned(id, by: session)
        guard entry.offer != nil else { return [] }
        withdrawOffer(of: id)
        return [.offersChanged]
    }

    /// Ends an activity permanently.
    package mutating func invalidate(_ id: ActivityID, session: SessionID) throws(Refusal) -> [Effect] {
        let entry = try owned(id, by: session)
        remove(id)
        return entry.offer == nil ? [] : [.offersChanged]
    }

    /// Ends an activity on the user's request, regardless of its owner.
    package mutating func withdraw(_ id: ActivityID) throws(Refusal) -> [Effect] {
        guard let entry = entries[id] else { throw .unknown(id) }
        remove(id)
        return [.withdrawn(id, session: entry.session)] + (entry.offer == nil ? [] : [.offersChanged])
    }

    /// Ends all activities of a session whose connection ended.
    package mutating func endSession(_ session: SessionID) -> [Effect] {
        let mine = entries.values.filter { $0.session == session }
        for entry in mine { remove(entry.id) }
        return mine.contains { $0.offer != nil } ? [.offersChanged] : []
    }

    /// Applies an update by the owner. With `answersSave`, it completes a pending save request.
    ///
    /// - Parameter bytes: the size of its encoded payload; nil if it has not changed.
    package mutating func update(
        _ id: ActivityID, session: SessionID, content: ActivityContent, needsSave: Bool?, answersSave: Bool,
        keeping: KeepRule? = nil, bytes: Int? = nil, now: MonotonicInstant
    ) throws(Refusal) -> [Effect] {
        var entry = try owned(id, by: session)
        if let bytes {
            // Only growth can be refused.
            if bytes > entry.bytes { try checkRoom(for: bytes - entry.bytes, of: entry.group) }
            entry.bytes = bytes
        }
        let former = entry.localOffer(now: now)
        entry.content = content
        entry.lastUpdate = now
        if let keeping { entry.keeping = keeping }
        if entry.keeping != .afterEnd { entry.keptContent = nil }
        if let needsSave { entry.needsSave = needsSave && entry.answersSaves }
        if answersSave {
            entry.saveRequested = nil
            entry.lastSave = now
        }
        entries[id] = entry
        switch (former, entry.localOffer(now: now)) {
        case (nil, nil): return []
        case (let former?, let present?): return former.hasSameContent(as: present) ? [] : [.offersChanged]
        case (nil, _?), (_?, nil): return [.offersChanged]
        }
    }

    /// Adds to the file in the copies of an activity. A complete one does not change any more.
    ///
    /// - Returns: true if the file is complete; nil if the bytes do not follow the former ones.
    package mutating func keepContent(
        _ id: ActivityID, session: SessionID, name: String, size: Int, offset: Int, _ data: [UInt8]
    ) throws(Refusal) -> Bool? {
        let entry = try owned(id, by: session)
        guard entry.keptContent?.isComplete != true, !data.isEmpty || offset == 0 else { return nil }
        if offset == 0 {
            let former = entry.keptContent?.size ?? 0
            if size > former { try checkRoom(for: size - former, of: entry.group) }
            entries[id]?.keptContent = KeptContent(name: name, size: size)
        }
        guard entries[id]?.keptContent?.bytes.count == offset, entries[id]?.keptContent?.size == size,
            data.count <= size - offset
        else { return nil }
        entries[id]?.keptContent?.bytes += data
        let isComplete = entries[id]?.keptContent?.isComplete ?? false
        if isComplete { entries[id]?.changes += 1 }
        return isComplete
    }

    /// Requests the latest state from the owner if it has unsaved changes and no request is
    /// pending.
    ///
    /// `needsSave` is cleared before the request, as in Apple's class, so that changes during the
    /// save are not lost.
    /// - Returns: the request to make; empty if none is needed or one is pending.
    package mutating func requestSave(
        of id: ActivityID, now: MonotonicInstant, isForUser: Bool = false
    ) -> [Effect] {
        guard var entry = entries[id], entry.needsSave, entry.saveRequested == nil else { return [] }
        entry.needsSave = false
        entry.saveRequested = now
        entries[id] = entry
        return [.requestSave(id, isForUser: isForUser)]
    }

    /// Ends a pending save request without an answer. The last saved state remains in force, and
    /// the owner is asked again on the next occasion.
    package mutating func saveTimedOut(_ id: ActivityID, now: MonotonicInstant) {
        guard entries[id]?.saveRequested != nil else { return }
        entries[id]?.saveRequested = nil
        entries[id]?.needsSave = true
        entries[id]?.lastSave = now
    }

    /// Performs what is due at `now`: periodic save requests of current activities with unsaved
    /// changes, and the end of those that have expired or had no update for too long.
    ///
    /// - Parameter wallClock: seconds since 2001-01-01 UTC, for `expirationDate`.
    package mutating func advance(now: MonotonicInstant, wallClock: Double) -> [Effect] {
        var effects: [Effect] = []
        for entry in entries.values where entry.offer != nil {
            if timeLeft(entry, now: now, wallClock: wallClock).map({ $0 <= .zero }) ?? false {
                remove(entry.id)
                effects += [.withdrawn(entry.id, session: entry.session), .offersChanged]
            } else if let due = refreshDue(entry), due <= now {
                effects += requestSave(of: entry.id, now: now)
            }
        }
        return effects
    }

    /// Handles the upcoming sleep of the machine. What is on offer stays so until `resume`, unless its
    /// expiration date passes.
    package mutating func suspend() { isSuspended = true }

    /// Handles the end of sleep. An activity whose lifetime is over stays on offer for some minutes, since
    /// another device may have continued it meanwhile.
    package mutating func resume(now: MonotonicInstant) {
        isSuspended = false
        guard let lifetime else { return }
        for entry in entries.values where entry.offer != nil {
            guard let lastUpdate = entry.lastUpdate else { continue }
            entries[entry.id]?.lastUpdate = max(lastUpdate, now - max(.zero, lifetime - Self.graceAfterSleep))
        }
    }

    /// Returns the time until `advance` is due; nil if it is not.
    package func nextDeadline(now: MonotonicInstant, wallClock: Double) -> Duration? {
        var earliest: Duration?
        for entry in entries.values where entry.offer != nil {
            var waits: [Duration] = []
            if let due = refreshDue(entry) { waits.append(max(.zero, now.duration(to: due))) }
            if let left = timeLeft(entry, now: now, wallClock: wallClock) { waits.append(max(.zero, left)) }
            for wait in waits { earliest = min(earliest ?? wait, wait) }
        }
        return earliest
    }

    /// Returns the local offers, most recent first, with their ages at `now`.
    package func offers(now: MonotonicInstant) -> [LocalOffer] {
        // Activities that became current in the same turn of the loop have the same time.
        entries.values.compactMap { entry in entry.offer.map { (entry, $0.since) } }
            .sorted { ($0.1, $0.0.lastUse) > ($1.1, $1.0.lastUse) }
            .compactMap { $0.0.localOffer(now: now) }
    }

    /// Returns the time until an activity on offer ends by itself, at most a day; nil if it does
    /// not.
    private func timeLeft(_ entry: LocalActivity, now: MonotonicInstant, wallClock: Double) -> Duration? {
        let day = 86_400.0
        if let expiration = entry.content.expiration {
            // A date may be any double. A day is enough until the next check.
            return .seconds(min(max(-day, expiration - wallClock), day))
        }
        guard let lifetime, let lastUpdate = entry.lastUpdate, !isSuspended else { return nil }
        return min(now.duration(to: lastUpdate.advanced(by: lifetime)), .seconds(day))
    }

    private func refreshDue(_ entry: LocalActivity) -> MonotonicInstant? {
        guard entry.needsSave, entry.saveRequested == nil, !entry.savesOnContinue else { return nil }
        guard let lastSave = entry.lastSave else { return entry.offer?.since }
        return lastSave.advanced(by: refreshInterval)
    }

    private func owned(_ id: ActivityID, by session: SessionID) throws(Refusal) -> LocalActivity {
        guard let entry = entries[id], entry.session == session else { throw .unknown(id) }
        return entry
    }

    /// - Parameter bytes: the number of additional bytes for the app.
    private func checkRoom(for bytes: Int, of group: ClientGroup) throws(Refusal) {
        var (all, apps) = (bytes, bytes)
        for entry in entries.values {
            all += entry.allBytes
            if entry.group == group { apps += entry.allBytes }
        }
        guard apps <= Self.maxBytesPerApp else { throw .tooMuchOfApp }
        guard all <= Self.maxBytes else { throw .tooMuchOfAll }
    }

    private mutating func remove(_ id: ActivityID) {
        withdrawOffer(of: id)
        entries[id] = nil
    }

    private mutating func withdrawOffer(of id: ActivityID) {
        guard let offer = entries[id]?.offer else { return }
        byOffer[offer.id] = nil
        entries[id]?.offer = nil
    }
}
