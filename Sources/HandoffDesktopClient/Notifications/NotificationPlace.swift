import HandoffControl
import HandoffDesktop
import HandoffHandlers
import HandoffModel
import LoopIO
import Timing

/// The place of one device on the screen: what ought to stand there, and what does. Plain values.
struct NotificationPlace: Sendable {
    /// A notification that is on the screen.
    private struct Standing {
        let id: UInt32
        let content: NotificationContent
        var token: ActivationToken?
    }

    private enum Screen {
        /// The state while nothing stands there.
        case empty
        /// The state while the notification with this number is on its way to the server, perhaps in place of another. What
        /// the user does to that one comes before the answer.
        case sending(number: UInt64, NotificationContent, former: Standing?)
        /// The state while a notification stands there.
        case standing(Standing)
    }

    /// What the user made of an activity.
    private enum Verdict {
        /// It was on the screen, and went off it by itself.
        case seen
        /// It is not wanted.
        case dismissed
        /// It was continued, or chosen on the screen.
        case accepted
    }

    /// The most activities of which it is known what the user made of them, and the most files that are awaited.
    private static let maxVerdicts = 32

    /// What the device offers and something here opens, newest first.
    private var offers: [NotificationOffer] = []
    /// The latest last. Of activities that are on offer no more, too: a device that is out of reach for a moment comes back
    /// with the same ones, and no other ever has their ids.
    private var verdicts: [(activity: ActivityID, verdict: Verdict)] = []
    private var screen = Screen.empty
    /// Why something was not continued, or that a file is complete, until the user has seen it.
    private(set) var result: NotificationContent?
    /// Files that the user has chosen, of which nobody has said yet what became of them; the latest last.
    private var awaited: [NotificationOffer] = []
    /// What the user has chosen and is being continued, and when it is shown that this takes a while.
    private(set) var underway: (offer: NotificationOffer, shownFrom: MonotonicInstant)?
    /// Whether it takes a while.
    private var isSlow = false

    /// How long what was chosen may take before anything is shown of it.
    private static let patience = Duration.seconds(1)
    /// When it may change.
    private(set) var pace = NotificationRateLimiter.ofDevice

    /// What ought to stand there.
    var wish: NotificationContent? {
        if let result { return result }
        if let underway, isSlow { return .progress(underway.offer) }
        // Not the next one: what is older than something that the user does not want was passed over there, too.
        guard let newest = offers.first, verdict(on: newest.activity) == nil else { return nil }
        return .offer(newest, more: offers.dropFirst().count { [nil, .seen].contains(verdict(on: $0.activity)) })
    }

    /// Whether something else ought to stand there than does.
    var wantsChange: Bool {
        guard let wish else { return false }
        return switch screen {
        case .empty: true
        case .sending: false
        case .standing(let standing): !standing.content.isSame(as: wish)
        }
    }

    /// Whether nothing stands there, nor is on its way.
    var isEmpty: Bool {
        if case .empty = screen { true } else { false }
    }

    /// Whether a notification is on its way.
    var isSending: Bool {
        if case .sending = screen { true } else { false }
    }

    /// Whether what stands there is on offer no more.
    var isOutdated: Bool {
        guard case .standing(let standing) = screen, case .offer(let offer, _) = standing.content else { return false }
        return !offers.contains { $0.activity == offer.activity }
    }

    /// Whether nothing would be lost with it.
    func isForgettable(at now: MonotonicInstant) -> Bool {
        guard case .empty = screen else { return false }
        return offers.isEmpty && result == nil && underway == nil && awaited.isEmpty && verdicts.isEmpty
            && pace.hasRested(at: now)
    }

    /// Takes what the device offers now, newest first.
    mutating func take(_ offers: [NotificationOffer]) {
        let isNew = offers.first.map { newest in !self.offers.contains { $0.activity == newest.activity } } ?? false
        self.offers = offers
        // Something new is of more interest than what became of something old.
        if isNew { result = nil }
    }

    /// The screen is locked, or nobody is there: who comes back is shown again what only went off the screen by itself.
    mutating func userLeft() {
        verdicts.removeAll { $0.verdict == .seen }
        if case .failure = result { result = nil }
    }

    /// What the user wanted could not be continued. If it was a file, its receiver has said better why.
    mutating func failed(_ offer: NotificationOffer, reason: String) {
        awaited.removeAll { $0.activity == offer.activity }
        if case .failure(let former, _) = result, former.activity == offer.activity { return }
        result = .failure(offer, reason: reason)
    }

    /// The app that receives a file that the user has chosen says what became of it.
    ///
    /// - Parameters:
    ///   - app: who says so.
    ///   - content: what is shown of it.
    mutating func received(
        _ activity: ActivityID, by app: String, _ content: (NotificationOffer) -> NotificationContent
    ) {
        guard let place = awaited.firstIndex(where: { $0.activity == activity && $0.app?.text == app }) else { return }
        result = content(awaited.remove(at: place))
    }

    /// An activity was continued.
    mutating func accepted(_ activity: ActivityID) {
        judge(activity, .accepted)
    }

    /// What became of the present offers, of those that were on the screen or were continued.
    var outcomes: [(activity: ActivityID, outcome: ControlNotifications.Outcome)] {
        offers.compactMap { offer in
            if case .offer(let shown, _)? = content, shown.activity == offer.activity {
                return (offer.activity, .shown)
            }
            return switch verdict(on: offer.activity) {
            case .seen: (offer.activity, .expired)
            case .dismissed: (offer.activity, .dismissed)
            case .accepted: (offer.activity, .accepted)
            case nil: nil
            }
        }
    }

    /// What is on the screen, or on its way there.
    private var content: NotificationContent? {
        switch screen {
        case .empty: nil
        case .sending(_, let content, _): content
        case .standing(let standing): standing.content
        }
    }

    private func verdict(on activity: ActivityID) -> Verdict? {
        verdicts.last { $0.activity == activity }?.verdict
    }

    private mutating func judge(_ activity: ActivityID, _ verdict: Verdict) {
        verdicts.removeAll { $0.activity == activity }
        if verdicts.count >= Self.maxVerdicts { verdicts.removeFirst() }
        verdicts.append((activity, verdict))
    }

    // MARK: - The screen

    /// A notification is on its way.
    ///
    /// - Returns: the id of the one whose place it takes; 0 for none.
    mutating func show(_ content: NotificationContent, number: UInt64, now: MonotonicInstant) -> UInt32 {
        pace.changed(at: now)
        var former: Standing?
        if case .standing(let standing) = screen { former = standing }
        screen = .sending(number: number, content, former: former)
        return former?.id ?? 0
    }

    /// The notification with this number has an id, or is not shown.
    mutating func shown(_ number: UInt64, as id: UInt32?) {
        guard case .sending(number, let content, _) = screen else { return }
        guard let id, id != 0 else {
            screen = .empty
            // What a server does not take once it would not take again.
            return leave(content, .seen)
        }
        screen = .standing(Standing(id: id, content: content))
    }

    /// Takes off what stands there, if something does that is known.
    ///
    /// - Returns: its id.
    mutating func clear() -> UInt32? {
        guard case .standing(let standing) = screen else { return nil }
        screen = .empty
        return standing.id
    }

    /// Takes off also what is about to be replaced: nobody waits for the answer any more.
    ///
    /// - Returns: its id.
    mutating func clearForGood() -> UInt32? {
        guard case .sending(_, _, let former?) = screen else { return clear() }
        screen = .empty
        return former.id
    }

    /// Nothing is on the screen any more.
    mutating func forgetScreen() {
        screen = .empty
    }

    /// Whether a notification is the one that stands there, or stood there a moment ago.
    func stands(_ id: UInt32) -> Bool { standing(id) != nil }

    /// What a notification that stands there offers.
    func standingOffer(_ id: UInt32) -> NotificationOffer? { standing(id)?.content.offer }

    /// A notification has gone off the screen.
    mutating func closed(_ id: UInt32, byUser: Bool) {
        guard let content = take(id)?.content else { return }
        leave(content, byUser ? .dismissed : .seen)
    }

    /// The user wants to see the file that a notification is about.
    ///
    /// - Returns: where it is; nil when it is about none.
    mutating func acceptSaved(_ id: UInt32) -> (path: String, token: ActivationToken?)? {
        guard let standing = standing(id), case .saved(_, let path) = standing.content else { return nil }
        closed(id, byUser: true)
        return (path, standing.token)
    }

    /// The user wants to continue what a notification offers.
    ///
    /// - Returns: what that is; nil when it offers nothing.
    mutating func accept(_ id: UInt32, now: MonotonicInstant) -> (offer: NotificationOffer, token: ActivationToken?)? {
        guard let standing = take(id) else { return nil }
        leave(standing.content, .accepted)
        guard case .offer(let offer, _) = standing.content else { return nil }
        underway = (offer, now + Self.patience)
        isSlow = false
        if offer.isFile {
            awaited.removeAll { $0.activity == offer.activity }
            if awaited.count >= Self.maxVerdicts { awaited.removeFirst() }
            awaited.append(offer)
        }
        return (offer, standing.token)
    }

    /// What was chosen is continued, or will not be.
    mutating func ended(_ activity: ActivityID) {
        if underway?.offer.activity == activity { underway = nil }
    }

    /// When what was chosen takes a while; nil when nothing was, or it does already.
    var becomesSlow: MonotonicInstant? { isSlow ? nil : underway?.shownFrom }

    /// Looks whether what was chosen takes a while.
    mutating func look(at now: MonotonicInstant) {
        isSlow = underway.map { now >= $0.shownFrom } ?? false
    }

    /// Keeps the token for what the user is about to choose.
    mutating func note(_ token: ActivationToken?, for id: UInt32) {
        guard var standing = standing(id) else { return }
        standing.token = token
        switch screen {
        case .sending(let number, let content, _): screen = .sending(number: number, content, former: standing)
        case .empty, .standing: screen = .standing(standing)
        }
    }

    private func standing(_ id: UInt32) -> Standing? {
        switch screen {
        case .standing(let standing) where standing.id == id: standing
        case .sending(_, _, let former?) where former.id == id: former
        case .empty, .standing, .sending: nil
        }
    }

    private mutating func take(_ id: UInt32) -> Standing? {
        guard let standing = standing(id) else { return nil }
        switch screen {
        case .sending(let number, let content, _): screen = .sending(number: number, content, former: nil)
        case .empty, .standing: screen = .empty
        }
        return standing
    }

    private mutating func leave(_ content: NotificationContent, _ verdict: Verdict) {
        switch content {
        case .failure, .saved: if result == content { result = nil }
        // Who takes it off does not want to see it; the activity comes all the same.
        case .progress: underway = nil
        case .offer(let offer, _): judge(offer.activity, verdict)
        }
    }
}
