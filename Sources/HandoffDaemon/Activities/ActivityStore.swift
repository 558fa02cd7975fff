package import HandoffControlServer
package import HandoffModel
package import HandoffProtocol
import LoopIO
package import Timing

/// The activities of this device: who published them, which are current, and whose owner is to be asked to save.
///
/// Plain values with time as a parameter; semantics of `NSUserActivity`. Lives on the daemon's loop. Diagram:
/// `docs/state-machines/activity.md`.
package struct ActivityStore: Sendable {
    /// What has to follow a change.
    package enum Effect: Equatable, Sendable {
        /// The owner is to be asked for its latest state.
        case askToSave(ActivityID)
        /// What this device offers has changed.
        case offersChanged
        /// The activity ended without its owner having asked for it.
        case withdrawn(ActivityID, session: SessionID)
    }

    /// Why an owner's call is refused.
    package enum Refusal: Error, Equatable, Sendable {
        /// There is no such activity, or it belongs to another session.
        case unknown(ActivityID)
        /// The app has as many activities as one may have, over all of its sessions.
        case tooManyOfApp
        /// There are as many activities as there may be.
        case tooManyOfAll
        /// The activities of the app take as much memory as those of one app may.
        case tooMuchOfApp
        /// All activities together take as much memory as they may.
        case tooMuchOfAll
    }

    /// The most activities that one session may have at a time: of those that are not current the one that the user has left alone
    /// for longest goes for the next. An app has a few, a leak has many.
    package static let maxPerSession = 64
    /// The most activities of all sessions together, as one daemon's memory must stay bounded.
    package static let maximum = 4096
    /// The most bytes of all payloads together: an app in a sandbox may publish, too.
    package static let maxBytes = 64 * 1024 * 1024
    /// What one app may have of both, in all of its processes and sessions: the others find room beside it.
    package static let maxPerApp = maximum / 4
    package static let maxBytesPerApp = maxBytes / 4

    /// How many times as long a periodic save request waits while power is saved. Who continues an activity asks anyway.
    private static let slowness = 8

    /// How long a periodic save request waits after the last one, 15 s unless configured.
    package var usualInterval: Duration
    /// Whether what can wait does, to save power.
    package var savesPower = false
    /// How long such a request waits now.
    package var refreshInterval: Duration { savesPower ? usualInterval * Self.slowness : usualInterval }
    /// How long an activity without an expiration date stays on offer after its owner last said something of it; nil: for ever.
    package var lifetime: Duration?
    private var entries: [ActivityID: PublishedActivity] = [:]
    private var byOffer: [ActivityID: ActivityID] = [:]
    /// Counts what the user has turned to.
    private var uses: UInt64 = 0

    /// A store without activities.
    package init(refreshInterval: Duration, lifetime: Duration? = nil) {
        usualInterval = refreshInterval
        self.lifetime = lifetime
    }

    /// The number of activities, current or not.
    package var count: Int { entries.count }

    /// The activity with the owner's handle `id`.
    package func activity(_ id: ActivityID) -> PublishedActivity? { entries[id] }

    /// The activity that is on offer under `offer`; nil once it was withdrawn.
    package func offered(_ offer: ActivityID) -> PublishedActivity? {
        byOffer[offer].flatMap { entries[$0] }
    }

    /// All activities: those on offer first, the one before the others that its user turned to last.
    package var all: [PublishedActivity] {
        entries.values.sorted { ($0.offer == nil ? 1 : 0, $1.lastUse) < ($1.offer == nil ? 1 : 0, $0.lastUse) }
    }

    /// The handles of a session's activities.
    package func activities(of session: SessionID) -> [ActivityID] {
        entries.values.filter { $0.session == session }.map(\.id)
    }

    /// Adds an activity that is not yet current.
    ///
    /// - Parameters:
    ///   - group: the app in whose share it counts.
    ///   - recipient: to which device it is sent; nil offers it to all.
    ///   - bytes: size of its encoded payload.
    /// - Returns: that another activity of the session went for it.
    @discardableResult package mutating func publish(
        _ content: ActivityContent, id: ActivityID, session: SessionID, group: ClientGroup, needsSave: Bool,
        answersSaves: Bool, savesOnContinue: Bool = false, recipient: DeviceID? = nil, bytes: Int = 0
    ) throws(Refusal) -> [Effect] {
        let leaving = activityThatLeaves(session)
        let others = entries.count - (leaving == nil ? 0 : 1)
        let ofApp = entries.values.count { $0.group == group && $0.id != leaving?.id }
        guard ofApp < Self.maxPerApp else { throw .tooManyOfApp }
        guard others < Self.maximum else { throw .tooManyOfAll }
        try checkRoom(for: bytes - (leaving?.bytes ?? 0), of: group)
        if let leaving { remove(leaving.id) }
        uses += 1
        entries[id] = PublishedActivity(
            id: id, session: session, group: group, recipient: recipient, bytes: bytes, answersSaves: answersSaves,
            savesOnContinue: savesOnContinue, content: content,
            needsSave: needsSave && answersSaves, lastUse: uses)
        return leaving.map { [.withdrawn($0.id, session: session)] } ?? []
    }

    /// Which activity of a session goes for another one; nil while there is room.
    private func activityThatLeaves(_ session: SessionID) -> PublishedActivity? {
        let mine = entries.values.filter { $0.session == session }
        guard mine.count >= Self.maxPerSession else { return nil }
        return mine.filter { $0.offer == nil }.min { $0.lastUse < $1.lastUse }
    }

    /// Makes an activity the current one of its session; the session's former current one is resigned.
    ///
    /// An activity that is sent to one device is not what its user works on: it is offered beside the current one and beside
    /// others that are sent, until it is resigned or ends.
    ///
    /// - Parameter offer: the random id under which it will be offered, unless it is current already.
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
        entry.offer = PublishedActivity.Offer(id: offer, since: now)
        entry.lastUse = uses
        entry.lastNews = now
        entry.wasOffered = true
        entries[id] = entry
        byOffer[offer] = id
        return [.offersChanged] + (entry.savesOnContinue ? [] : requestSave(of: id, now: now))
    }

    /// Ends the engagement without ending the activity.
    package mutating func resign(_ id: ActivityID, session: SessionID) throws(Refusal) -> [Effect] {
        let entry = try owned(id, by: session)
        guard entry.offer != nil else { return [] }
        withdrawOffer(of: id)
        return [.offersChanged]
    }

    /// Ends an activity for good.
    package mutating func invalidate(_ id: ActivityID, session: SessionID) throws(Refusal) -> [Effect] {
        let entry = try owned(id, by: session)
        remove(id)
        return entry.offer == nil ? [] : [.offersChanged]
    }

    /// Ends an activity because the user wants it so, whoever owns it.
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

    /// Replaces what the owner told of an activity; a save that was asked for counts as answered when `answersSave`.
    ///
    /// - Parameter bytes: size of its encoded payload; nil when it has not changed.
    package mutating func update(
        _ id: ActivityID, session: SessionID, content: ActivityContent, needsSave: Bool?, answersSave: Bool,
        bytes: Int? = nil, now: MonotonicInstant
    ) throws(Refusal) -> [Effect] {
        var entry = try owned(id, by: session)
        if let bytes {
            // What grows is refused; what shrinks never is.
            if bytes > entry.bytes { try checkRoom(for: bytes - entry.bytes, of: entry.group) }
            entry.bytes = bytes
        }
        let seenByOthers = Advertised(entry.content) != Advertised(content)
        entry.content = content
        entry.lastNews = now
        if let needsSave { entry.needsSave = needsSave && entry.answersSaves }
        if answersSave {
            entry.saveRequested = nil
            entry.lastSave = now
        }
        entries[id] = entry
        return entry.offer != nil && seenByOthers ? [.offersChanged] : []
    }

    /// Asks the owner for its latest state where it has news, or an answer is still awaited.
    ///
    /// `needsSave` is cleared before the request, as Apple's class does, so that news during the save is not lost.
    /// - Returns: the request to make; empty when none is needed or one is under way.
    package mutating func requestSave(of id: ActivityID, now: MonotonicInstant) -> [Effect] {
        guard var entry = entries[id], entry.needsSave, entry.saveRequested == nil else { return [] }
        entry.needsSave = false
        entry.saveRequested = now
        entries[id] = entry
        return [.askToSave(id)]
    }

    /// Gives up waiting for an answer; the last saved state stands, and the owner is asked again at the next occasion.
    package mutating func saveTimedOut(_ id: ActivityID, now: MonotonicInstant) {
        guard entries[id]?.saveRequested != nil else { return }
        entries[id]?.saveRequested = nil
        entries[id]?.needsSave = true
        entries[id]?.lastSave = now
    }

    /// What is due at `now`: periodic save requests of current activities with news, and the end of those that
    /// have expired or were left alone for too long.
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

    /// How long until `advance` has something to do; nil while nothing is awaited.
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

    /// What this device offers, most recent first; ages are counted to `now`.
    package func offers(now: MonotonicInstant) -> [OfferedActivity] {
        let current = entries.values.compactMap { entry in
            entry.offer.map { (entry, $0) }
        }
        return current.filter { $0.0.content.isEligibleForHandoff }
            // Several that one call after another made current in one turn of the loop have the same time.
            .sorted { ($0.1.since, $0.0.lastUse) > ($1.1.since, $1.0.lastUse) }
            .map { entry, offer in
                OfferedActivity(
                    id: offer.id, type: entry.content.type, title: entry.content.title, team: entry.content.team,
                    supportsStreams: entry.content.supportsStreams, hasWebpageURL: entry.content.webpageURL != nil,
                    age: UInt32(clamping: offer.since.duration(to: now).components.seconds), recipient: entry.recipient)
            }
    }

    /// How long until an activity on offer ends by itself, at most a day; nil: it does not.
    private func timeLeft(_ entry: PublishedActivity, now: MonotonicInstant, wallClock: Double) -> Duration? {
        let day = 86_400.0
        if let expiration = entry.content.expiration {
            // A date may be any double; a day is long enough to look again.
            return .seconds(min(max(-day, expiration - wallClock), day))
        }
        guard let lifetime, let lastNews = entry.lastNews else { return nil }
        return min(now.duration(to: lastNews.advanced(by: lifetime)), .seconds(day))
    }

    private func refreshDue(_ entry: PublishedActivity) -> MonotonicInstant? {
        guard entry.needsSave, entry.saveRequested == nil, !entry.savesOnContinue else { return nil }
        guard let lastSave = entry.lastSave else { return entry.offer?.since }
        return lastSave.advanced(by: refreshInterval)
    }

    private func owned(_ id: ActivityID, by session: SessionID) throws(Refusal) -> PublishedActivity {
        guard let entry = entries[id], entry.session == session else { throw .unknown(id) }
        return entry
    }

    /// - Parameter bytes: how many more the app is to have.
    private func checkRoom(for bytes: Int, of group: ClientGroup) throws(Refusal) {
        var (all, apps) = (bytes, bytes)
        for entry in entries.values {
            all += entry.bytes
            if entry.group == group { apps += entry.bytes }
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

    /// The part of an activity that its advert carries; only a change of it is news to the other devices.
    private struct Advertised: Equatable {
        let title: String?
        let team: String?
        let streams: Bool
        let web: Bool
        let eligible: Bool

        init(_ content: ActivityContent) {
            title = content.title
            team = content.team
            streams = content.supportsStreams
            web = content.webpageURL != nil
            eligible = content.isEligibleForHandoff
        }
    }
}
