import HandoffControl
import HandoffHandlers
import HandoffJSON
import HandoffModel
import LoopIO

/// One of the two places of a device on the screen, with its desired and its actual notification.
/// Plain values.
struct NotificationPlace: Sendable {
    /// Identifies a place. Sent items have their own place, so that offers do not displace them.
    struct ID: Hashable, Comparable {
        let device: DeviceID
        let isForItems: Bool

        /// The place of an offer.
        init(_ offer: NotificationOffer) {
            device = offer.device
            isForItems = offer.isSent
        }

        static func < (left: ID, right: ID) -> Bool {
            left.device == right.device ? !left.isForItems && right.isForItems : left.device < right.device
        }
    }

    /// A notification on the screen.
    struct Displayed {
        let id: UInt32
        let content: NotificationContent
        var token: ActivationToken?
    }

    private enum Screen {
        /// No notification is shown.
        case empty
        /// The notification with this number was sent to the server, possibly to replace `former`.
        /// The user's reactions to `former` arrive before the reply.
        case sending(number: UInt64, NotificationContent, former: Displayed?)
        /// A notification is shown.
        case displayed(Displayed)
    }

    /// The user's reaction to an activity.
    enum Verdict {
        /// The notification was shown, and left the screen by itself.
        case seen
        /// Its device went to sleep before it was shown.
        case skipped
        /// The user dismissed it.
        case dismissed
        /// The user accepted it, and cancelled it while it was arriving.
        case cancelled
        /// The activity was continued, or chosen in the notification.
        case accepted
    }

    /// The maximum number of remembered reactions.
    private static let maxVerdicts = 32
    /// The maximum number of items in one notification: the limit of one `handoffctl send`.
    static let maxItems = 32
    /// The time that a notification waits for further items: items of one command arrive one after
    /// another.
    private static let gatherInterval = Duration.milliseconds(300)

    /// The device's offers that something here opens, newest first.
    private var offers: [NotificationOffer] = []
    /// The reactions, latest last. Includes withdrawn activities: a device that was unreachable for
    /// a moment offers the same activities again, and their ids are never reused.
    var verdicts: [(activity: ActivityID, verdict: Verdict)] = []
    private var screen = Screen.empty
    /// The failures to continue an activity, oldest first, until the user has seen them. Each is a
    /// `failure`, `incomplete` or `newer`.
    var failures: [(offer: NotificationOffer, content: NotificationContent)] = []
    /// The completed files, oldest first, until the user has seen them.
    var saved: [NotificationContent.SavedFile] = []
    /// Chosen files whose result is still unknown.
    var arriving = ArrivingFiles()
    /// The user's choices, oldest first. Of sent items, only the first is being continued. The
    /// others follow one by one, because most apps that receive a file handle one at a time.
    var underway: [NotificationOffer] = []
    /// The time at which progress is shown; nil if the user does not want to see it.
    var shownFrom: MonotonicInstant?
    /// True if that time has passed.
    private var isSlow = false

    /// The delay before the progress of a choice is shown.
    static let progressDelay = Duration.seconds(1)
    private var rateLimiter = NotificationRateLimiter.ofDevice
    /// The end of the wait for further items.
    private var gathersUntil = MonotonicInstant(nanoseconds: 0)

    /// The earliest time for a change.
    var next: MonotonicInstant { isUpdate ? rateLimiter.rested : max(rateLimiter.next, gathersUntil) }

    /// True if the desired notification is a new progress of the displayed one.
    var isUpdate: Bool {
        if case .displayed(let displayed) = screen, case .arriving = displayed.content, case .arriving? = wish {
            return true
        }
        return false
    }

    /// The desired notification.
    var wish: NotificationContent? {
        // A user who has sent something waits for a reaction. The results of earlier items can
        // follow.
        if let items { return items }
        if isSlow, let progress = arriving.progress(of: underway) { return .arriving(progress) }
        // The results of files that arrive together are shown together.
        if !arriving.isActive {
            if let failure = failures.first { return failure.content }
            if !saved.isEmpty { return .saved(saved) }
        }
        if let first = underway.first, isSlow { return .progress(first) }
        // Not the next offer: anything older than a dismissed offer was skipped as well.
        guard let newest = offers.first, !newest.isSent, verdict(on: newest.activity) == nil else { return nil }
        let more = offers.dropFirst().count { [nil, .seen, .skipped].contains(verdict(on: $0.activity)) }
        return .offer(newest, more: more)
    }

    /// The notification of pending items; nil if the user has seen, dismissed or accepted each of
    /// them.
    private var items: NotificationContent? {
        let pending = offers.reversed().filter {
            $0.isSent && $0.obstacle == nil && [nil, .seen, .cancelled].contains(verdict(on: $0.activity))
        }.prefix(Self.maxItems)
        return pending.contains { verdict(on: $0.activity) == nil } ? .items(Array(pending)) : nil
    }

    /// True if the actual notification differs from the desired one.
    var wantsChange: Bool {
        guard let wish else { return false }
        return switch screen {
        case .empty: true
        case .sending: false
        case .displayed(let displayed): !displayed.content.isSame(as: wish)
        }
    }

    /// True if no notification is shown or being sent.
    var isEmpty: Bool {
        if case .empty = screen { true } else { false }
    }

    /// True if a notification was sent and its reply is pending.
    var isSending: Bool {
        if case .sending = screen { true } else { false }
    }

    /// True if all offers of the shown notification have been withdrawn.
    var isOutdated: Bool {
        guard case .displayed(let displayed) = screen else { return false }
        let content = displayed.content
        let shown = content.choosable + content.offers.filter { $0.obstacle != nil }
        return !shown.isEmpty && !offers.contains { offer in shown.contains { $0.activity == offer.activity } }
    }

    /// True if the place holds no state.
    func isForgettable(at now: MonotonicInstant) -> Bool {
        guard case .empty = screen else { return false }
        return offers.isEmpty && failures.isEmpty && saved.isEmpty && underway.isEmpty && arriving.isEmpty
            && verdicts.isEmpty && rateLimiter.hasRested(at: now)
    }

    /// Sets the device's current offers, newest first.
    mutating func take(_ offers: [NotificationOffer], now: MonotonicInstant) {
        let newest = offers.first.flatMap { newest in
            self.offers.contains { $0.activity == newest.activity } ? nil : newest
        }
        let former = self.offers
        let wished = wish?.choosable ?? []
        self.offers = Self.ordered(offers, as: former)
        verdicts.removeAll { entry in
            entry.verdict == .skipped && offers.contains { $0.activity == entry.activity && $0.kept == nil }
        }
        // A device that goes to sleep is no reason for a prompt. Its notification stays.
        for offer in offers where offer.kept != nil && verdict(on: offer.activity) == nil {
            let wasOffered = former.contains { $0.activity == offer.activity && $0.kept == nil }
            guard wasOffered, !wished.contains(where: { $0.activity == offer.activity }) else { continue }
            judge(offer.activity, .skipped)
        }
        defer { noteObstacles(former) }
        guard let newest else { return }
        guard !newest.isSent else {
            // Not extended by further items, so that the first one waits no longer than this.
            if gathersUntil <= now { gathersUntil = now + Self.gatherInterval }
            return
        }
        // A new offer is more relevant than the results of earlier ones.
        failures = []
        saved = []
    }

    /// Returns kept activities in the order in which they were offered, after those that were not: they
    /// are sorted by the time of their copies.
    private static func ordered(_ offers: [NotificationOffer], as former: [NotificationOffer]) -> [NotificationOffer] {
        guard offers.allSatisfy({ $0.kept != nil }) else { return offers }
        let known = former.compactMap { old in offers.first { $0.activity == old.activity } }
        return offers.filter { offer in !known.contains { $0.activity == offer.activity } } + known
    }

    /// Records items that nothing opens, for a user who waits for a reaction. An item that something
    /// opens later is shown as such.
    private mutating func noteObstacles(_ former: [NotificationOffer]) {
        failures.removeAll { failure in
            failure.offer.obstacle != nil && !offers.contains(failure.offer)
        }
        for offer in offers.reversed() where !former.contains(offer) && verdict(on: offer.activity) == nil {
            guard let obstacle = offer.obstacle else { continue }
            let reason = NotificationText.line(obstacle, limit: 2 * NotificationText.maxCharacters) ?? ""
            note(offer, .failure(offer, reason: reason))
        }
    }

    /// Records that an activity was continued from a copy, or needs things that this device lacks.
    mutating func continued(_ offer: NotificationOffer, missing: String?) {
        note(offer, .incomplete(offer, missing: missing))
    }

    /// The user has left or locked the screen. Notifications that left the screen by themselves are
    /// shown again later.
    mutating func userLeft() {
        verdicts.removeAll { [.seen, .skipped, .cancelled].contains($0.verdict) }
        failures = []
    }

    /// Records a failure to continue, or its lack of something, unless one is known.
    mutating func note(_ offer: NotificationOffer, _ content: NotificationContent) {
        guard !failures.contains(where: { $0.offer.activity == offer.activity }) else { return }
        if failures.count >= Self.maxItems { failures.removeFirst() }
        failures.append((offer, content))
    }

    /// Records that an activity was continued.
    mutating func accepted(_ activity: ActivityID) {
        judge(activity, .accepted)
    }

    /// The outcomes of the current offers that were shown or continued.
    var outcomes: [(activity: ActivityID, outcome: ControlNotifications.Outcome)] {
        offers.compactMap { offer in
            if content?.choosable.contains(where: { $0.activity == offer.activity }) == true {
                return (offer.activity, .shown)
            }
            return switch verdict(on: offer.activity) {
            case .seen, .cancelled: (offer.activity, .expired)
            case .dismissed: (offer.activity, .dismissed)
            case .accepted: (offer.activity, .accepted)
            case .skipped, nil: nil
            }
        }
    }

    /// The content that is shown or being sent.
    private var content: NotificationContent? {
        switch screen {
        case .empty: nil
        case .sending(_, let content, _): content
        case .displayed(let displayed): displayed.content
        }
    }

    func verdict(on activity: ActivityID) -> Verdict? {
        verdicts.last { $0.activity == activity }?.verdict
    }

    mutating func judge(_ activity: ActivityID, _ verdict: Verdict) {
        verdicts.removeAll { $0.activity == activity }
        if verdicts.count >= Self.maxVerdicts { verdicts.removeFirst() }
        verdicts.append((activity, verdict))
    }

    // MARK: - The screen

    /// Records that a notification is being sent.
    ///
    /// - Returns: The id of the notification that it replaces; 0 for none.
    mutating func show(_ content: NotificationContent, number: UInt64, now: MonotonicInstant) -> UInt32 {
        rateLimiter.changed(at: now, isUpdate: isUpdate)
        var former: Displayed?
        if case .displayed(let displayed) = screen { former = displayed }
        screen = .sending(number: number, content, former: former)
        return former?.id ?? 0
    }

    /// Records the id of the notification with this number; nil if it is not shown.
    mutating func shown(_ number: UInt64, as id: UInt32?) {
        guard case .sending(number, let content, _) = screen else { return }
        guard let id, id != 0 else {
            screen = .empty
            // The server would refuse it again.
            return leave(content, .seen)
        }
        screen = .displayed(Displayed(id: id, content: content))
    }

    /// Clears the place, unless its notification awaits an id.
    ///
    /// - Returns: The id of the notification to remove; nil if there is none.
    mutating func clear() -> UInt32? {
        guard case .displayed(let displayed) = screen else { return nil }
        screen = .empty
        return displayed.id
    }

    /// Clears the place without waiting for a pending reply.
    ///
    /// - Returns: The id of the notification to remove: the current one, or the one that was about
    ///   to be replaced.
    mutating func clearCompletely() -> UInt32? {
        guard case .sending(_, _, let former?) = screen else { return clear() }
        screen = .empty
        return former.id
    }

    /// Clears the place after the server has lost its notifications.
    mutating func forgetScreen() {
        screen = .empty
    }

    /// True if a notification is the current one, or the one being replaced.
    func displays(_ id: UInt32) -> Bool { displayed(id) != nil }

    /// The offers of a notification that the user can accept or decline together.
    func choosable(_ id: UInt32) -> [NotificationOffer] { displayed(id)?.content.choosable ?? [] }

    /// Records that a notification has left the screen.
    mutating func closed(_ id: UInt32, byUser: Bool) {
        guard let content = take(id)?.content else { return }
        leave(content, byUser ? .dismissed : .seen)
    }

    /// Accepts a notification about saved files.
    ///
    /// - Returns: The files; nil if the notification is about something else.
    mutating func acceptSaved(
        _ id: UInt32
    ) -> (files: [NotificationContent.SavedFile], token: ActivationToken?)? {
        guard let displayed = displayed(id), case .saved(let files) = displayed.content else { return nil }
        closed(id, byUser: true)
        return (files, displayed.token)
    }

    /// Accepts a notification about a newer state.
    ///
    /// - Returns: The chosen state; nil if the notification is about something else, or does not offer
    ///   that state.
    mutating func acceptState(
        _ id: UInt32, isOlder: Bool
    ) -> (offer: NotificationOffer, token: ActivationToken?)? {
        guard let displayed = displayed(id), case .newer(var older, let note) = displayed.content else { return nil }
        older.mayBeOlder = true
        guard let choice = isOlder ? older : note.offer else { return nil }
        closed(id, byUser: true)
        return (choice, displayed.token)
    }

    /// Accepts the offers of a notification.
    ///
    /// - Returns: The offers to continue now; nil if there are none.
    mutating func accept(
        _ id: UInt32, now: MonotonicInstant
    ) -> (offers: [NotificationOffer], token: ActivationToken?)? {
        guard let displayed = take(id) else { return nil }
        leave(displayed.content, .accepted)
        let offers = displayed.content.choosable
        guard !offers.isEmpty else { return nil }
        return (begin(offers, now: now), displayed.token)
    }

    /// Accepts an offer that was chosen outside of its notification.
    ///
    /// - Returns: The offers to continue now; empty if it is already being continued.
    mutating func accept(_ offer: NotificationOffer, now: MonotonicInstant) -> [NotificationOffer] {
        // The user's decision precedes the automatic one.
        let isDecided = offer.limit != nil && verdict(on: offer.activity) != nil
        guard !isDecided, !underway.contains(where: { $0.activity == offer.activity }) else { return [] }
        accepted(offer.activity)
        return begin([offer], now: now)
    }

    /// - Returns: The offers to continue now.
    private mutating func begin(_ offers: [NotificationOffer], now: MonotonicInstant) -> [NotificationOffer] {
        let isIdle = underway.isEmpty
        underway += offers
        if shownFrom == nil {
            shownFrom = now + Self.progressDelay
            isSlow = false
        }
        for offer in offers where offer.isFile { arriving.add(offer) }
        let isForItems = offers.contains(where: \.isSent)
        return !isForItems ? offers : isIdle ? Array(offers.prefix(1)) : []
    }

    /// Removes a choice that was continued or has failed.
    ///
    /// - Returns: The item to continue next.
    mutating func ended(_ activity: ActivityID) -> NotificationOffer? {
        let wasFirst = underway.first?.activity == activity
        underway.removeAll { $0.activity == activity }
        rest()
        return wasFirst ? underway.first.flatMap { $0.isSent ? $0 : nil } : nil
    }

    /// The time at which progress is to be shown; nil if there is no choice or it is already due.
    var becomesSlow: MonotonicInstant? { isSlow ? nil : shownFrom }

    /// Updates `isSlow`.
    mutating func updateSlow(at now: MonotonicInstant) {
        isSlow = shownFrom.map { now >= $0 } ?? false
    }

    /// Stores the token for the upcoming choice.
    mutating func note(_ token: ActivationToken?, for id: UInt32) {
        guard var displayed = displayed(id) else { return }
        displayed.token = token
        switch screen {
        case .sending(let number, let content, _): screen = .sending(number: number, content, former: displayed)
        case .empty, .displayed: screen = .displayed(displayed)
        }
    }

    /// The token for the choice in a notification.
    func token(of id: UInt32) -> ActivationToken? { displayed(id)?.token }

    func displayed(_ id: UInt32) -> Displayed? {
        switch screen {
        case .displayed(let displayed) where displayed.id == id: displayed
        case .sending(_, _, let former?) where former.id == id: former
        case .empty, .displayed, .sending: nil
        }
    }

    private mutating func take(_ id: UInt32) -> Displayed? {
        guard let displayed = displayed(id) else { return nil }
        switch screen {
        case .sending(let number, let content, _): screen = .sending(number: number, content, former: nil)
        case .empty, .displayed: screen = .empty
        }
        return displayed
    }

    private mutating func leave(_ content: NotificationContent, _ verdict: Verdict) {
        switch content {
        case .failure(let offer, _), .incomplete(let offer, _), .newer(let offer, _):
            failures.removeAll { $0.offer.activity == offer.activity }
            // An item that nothing opens is reported once.
            if offer.obstacle != nil { judge(offer.activity, verdict) }
        case .saved(let files): saved.removeAll(where: files.contains)
        // Dismissing the progress hides it; the activity is still continued.
        case .progress, .arriving: shownFrom = nil
        case .offer, .items: for offer in content.offers { judge(offer.activity, verdict) }
        }
    }
}
