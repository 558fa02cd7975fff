import HandoffControl
import HandoffDesktop
import HandoffHandlers
import HandoffModel
import LoopIO
import Timing

/// One of the two places of a device on the screen: the notification that is wanted there, and the one that is there. Plain
/// values.
struct NotificationPlace: Sendable {
    /// Names a place. The items that a device sends here have a place of their own, so that no offer displaces them.
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
    /// The most items of one prompt: as many as one `handoffctl send` takes.
    private static let maxItems = 32
    /// How long a prompt waits for further items: those sent by one command arrive one after another.
    private static let gatherInterval = Duration.milliseconds(300)

    /// What the device offers and something here opens, newest first.
    private var offers: [NotificationOffer] = []
    /// The latest last. Of activities that are on offer no more, too: a device that is out of reach for a moment comes back
    /// with the same ones, and no other ever has their ids.
    private var verdicts: [(activity: ActivityID, verdict: Verdict)] = []
    private var screen = Screen.empty
    /// Why something was not continued, oldest first, each until the user has seen it.
    private var failures: [(offer: NotificationOffer, reason: String)] = []
    /// The files that are complete, oldest first, until the user has seen that.
    private var saved: [NotificationContent.SavedFile] = []
    /// Files that the user has chosen, of which nobody has said yet what became of them; the latest last.
    private var awaited: [NotificationOffer] = []
    /// What the user has chosen, oldest first. Of items the first is being continued and the others follow one by one, as
    /// most apps that receive a file take one at a time.
    private var underway: [NotificationOffer] = []
    /// When it is shown that this takes a while; nil when the user does not want to see it.
    private var shownFrom: MonotonicInstant?
    /// Whether it takes a while.
    private var isSlow = false

    /// How long what was chosen may take before anything is shown of it.
    private static let patience = Duration.seconds(1)
    private var pace = NotificationRateLimiter.ofDevice
    /// Until when further items are awaited.
    private var gathersUntil = MonotonicInstant(nanoseconds: 0)

    /// When it may change.
    var next: MonotonicInstant { max(pace.next, gathersUntil) }

    /// The notification that is wanted there.
    var wish: NotificationContent? {
        // A user who has sent something waits for the answer; what became of earlier items can be shown after it.
        if let items { return items }
        if let failure = failures.first { return .failure(failure.offer, reason: failure.reason) }
        if !saved.isEmpty { return .saved(saved) }
        if let first = underway.first, isSlow { return .progress(first) }
        // Not the next one: what is older than something that the user does not want was passed over there, too.
        guard let newest = offers.first, !newest.isSent, verdict(on: newest.activity) == nil else { return nil }
        return .offer(newest, more: offers.dropFirst().count { [nil, .seen].contains(verdict(on: $0.activity)) })
    }

    /// The prompt for the items that wait; nil when the user has seen, dismissed or accepted each.
    private var items: NotificationContent? {
        let pending = offers.reversed().filter { $0.isSent && [nil, .seen].contains(verdict(on: $0.activity)) }
            .prefix(Self.maxItems)
        return pending.contains { verdict(on: $0.activity) == nil } ? .items(Array(pending)) : nil
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
        guard case .standing(let standing) = screen, !standing.content.choosable.isEmpty else { return false }
        return !offers.contains { offer in standing.content.choosable.contains { $0.activity == offer.activity } }
    }

    /// Whether nothing would be lost with it.
    func isForgettable(at now: MonotonicInstant) -> Bool {
        guard case .empty = screen else { return false }
        return offers.isEmpty && failures.isEmpty && saved.isEmpty && underway.isEmpty && awaited.isEmpty
            && verdicts.isEmpty && pace.hasRested(at: now)
    }

    /// Takes what the device offers now, newest first.
    mutating func take(_ offers: [NotificationOffer], now: MonotonicInstant) {
        let newest = offers.first.flatMap { newest in
            self.offers.contains { $0.activity == newest.activity } ? nil : newest
        }
        self.offers = offers
        guard let newest else { return }
        guard !newest.isSent else {
            // Not anew for each of them: the first one waits no longer than this.
            if gathersUntil <= now { gathersUntil = now + Self.gatherInterval }
            return
        }
        // A new offer is of more interest than what became of an old one.
        failures = []
        saved = []
    }

    /// The screen is locked, or nobody is there: who comes back is shown again what only went off the screen by itself.
    mutating func userLeft() {
        verdicts.removeAll { $0.verdict == .seen }
        failures = []
    }

    /// What the user wanted could not be continued. If it was a file, its receiver has said better why.
    mutating func failed(_ offer: NotificationOffer, reason: String) {
        awaited.removeAll { $0.activity == offer.activity }
        note(offer, reason)
    }

    private mutating func note(_ offer: NotificationOffer, _ reason: String) {
        guard !failures.contains(where: { $0.offer.activity == offer.activity }) else { return }
        if failures.count >= Self.maxItems { failures.removeFirst() }
        failures.append((offer, reason))
    }

    /// The app that receives a file that the user has chosen says what became of it.
    ///
    /// - Parameters:
    ///   - app: who says so.
    ///   - end: where the file is, or why it is not there, in one line.
    mutating func received(_ activity: ActivityID, by app: String, _ end: ReceivedEnd) {
        guard let place = awaited.firstIndex(where: { $0.activity == activity && $0.app?.text == app }) else { return }
        let offer = awaited.remove(at: place)
        switch end {
        case .failed(let reason): note(offer, reason)
        case .saved(let path):
            if saved.count >= Self.maxItems { saved.removeFirst() }
            saved.append(NotificationContent.SavedFile(offer: offer, path: path))
        }
    }

    /// An activity was continued.
    mutating func accepted(_ activity: ActivityID) {
        judge(activity, .accepted)
    }

    /// What became of the present offers, of those that were on the screen or were continued.
    var outcomes: [(activity: ActivityID, outcome: ControlNotifications.Outcome)] {
        offers.compactMap { offer in
            if content?.choosable.contains(where: { $0.activity == offer.activity }) == true {
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

    /// The offers of a notification that is there, of which the user can accept or decline all together.
    func choosable(_ id: UInt32) -> [NotificationOffer] { standing(id)?.content.choosable ?? [] }

    /// A notification has gone off the screen.
    mutating func closed(_ id: UInt32, byUser: Bool) {
        guard let content = take(id)?.content else { return }
        leave(content, byUser ? .dismissed : .seen)
    }

    /// The user wants to see the files that a notification is about.
    ///
    /// - Returns: the files; nil when it is about none.
    mutating func acceptSaved(
        _ id: UInt32
    ) -> (files: [NotificationContent.SavedFile], token: ActivationToken?)? {
        guard let standing = standing(id), case .saved(let files) = standing.content else { return nil }
        closed(id, byUser: true)
        return (files, standing.token)
    }

    /// The user wants to continue what a notification offers.
    ///
    /// - Returns: the offers to continue now; nil when it offers nothing.
    mutating func accept(
        _ id: UInt32, now: MonotonicInstant
    ) -> (offers: [NotificationOffer], token: ActivationToken?)? {
        guard let standing = take(id) else { return nil }
        leave(standing.content, .accepted)
        let offers = standing.content.choosable
        guard !offers.isEmpty else { return nil }
        let isIdle = underway.isEmpty
        underway += offers
        shownFrom = now + Self.patience
        isSlow = false
        for offer in offers where offer.isFile {
            awaited.removeAll { $0.activity == offer.activity }
            if awaited.count >= Self.maxVerdicts { awaited.removeFirst() }
            awaited.append(offer)
        }
        let isForItems = offers.contains(where: \.isSent)
        return (!isForItems ? offers : isIdle ? Array(offers.prefix(1)) : [], standing.token)
    }

    /// What was chosen is continued, or will not be.
    ///
    /// - Returns: the item to continue next.
    mutating func ended(_ activity: ActivityID) -> NotificationOffer? {
        let wasFirst = underway.first?.activity == activity
        underway.removeAll { $0.activity == activity }
        if underway.isEmpty { shownFrom = nil }
        return wasFirst ? underway.first.flatMap { $0.isSent ? $0 : nil } : nil
    }

    /// When what was chosen takes a while; nil when nothing was, or it does already.
    var becomesSlow: MonotonicInstant? { isSlow ? nil : shownFrom }

    /// Looks whether what was chosen takes a while.
    mutating func look(at now: MonotonicInstant) {
        isSlow = shownFrom.map { now >= $0 } ?? false
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
        case .failure(let offer, _): failures.removeAll { $0.offer.activity == offer.activity }
        case .saved(let files): saved.removeAll(where: files.contains)
        // Who takes it off does not want to see it; the activity comes all the same.
        case .progress: shownFrom = nil
        case .offer, .items: for offer in content.offers { judge(offer.activity, verdict) }
        }
    }
}
