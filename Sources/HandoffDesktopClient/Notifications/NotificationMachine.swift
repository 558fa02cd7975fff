package import HandoffControl
package import HandoffDesktop
package import HandoffHandlers
package import HandoffModel
import LoopIO
package import Timing

/// Decides which notification stands for which device, and what the notification server is told next. Plain values with
/// time as a parameter.
///
/// Each device has a place for its offers and another one for the items that it sends here. What ought to stand in a place follows
/// from what the device offers and what the user made of it; what does stand there is known from the server. Each event ends
/// with `settle`, which brings the second after the first.
/// Diagram: `docs/state-machines/notifications.md`.
package struct NotificationMachine: Sendable {
    /// What the driver is to do.
    package enum Action: Equatable, Sendable {
        /// Ask the server what it can do; `answered` takes it with this number.
        case ask(UInt64)
        /// Show this in place of the notification with an id, 0 for none; `shown` takes the new id with this number.
        case show(UInt64, DesktopNotification, replacing: UInt32)
        /// Take a notification off the screen.
        case withdraw(UInt32)
        /// Continue an activity; `failed` takes why it could not be.
        case `continue`(NotificationOffer, ActivationToken?)
        /// Notify the device that sent an item that the user here does not want it.
        case decline(NotificationOffer)
        /// Show nothing of this app any more.
        case mute(AppID)
        /// Open a file at a path, or show it in its folder.
        case open(String, shows: Bool, ActivationToken?)
    }

    /// How long nobody is asked for a server where there is none, unless one comes: the bus may try to start one each time.
    static let timeout = Duration.seconds(60)

    private enum Server: Equatable {
        /// The state while nobody was asked.
        case unknown
        /// The state while the question with this number is on its way.
        case asked(UInt64)
        /// The state while there is a server that can do so much.
        case present(NotificationCapabilities)
        /// The state while there is none, until somebody may be asked again.
        case absent(until: MonotonicInstant)
    }

    private var server = Server.unknown
    /// Whether a server has appeared since the question was asked that is on its way.
    private var hasAppearedMeanwhile = false
    private var places: [NotificationPlace.ID: NotificationPlace] = [:]
    private var pace = NotificationRateLimiter.ofScreen
    /// The most notifications that stand there at a time; `list` shows all that is on offer.
    package static let maxShown = 8
    private var isOn: Bool
    /// Nobody looks at the screen, or others might.
    private var isQuiet = true
    private var isStopped = false
    private var lastNumber: UInt64 = 0

    /// A machine that shows nothing before it is told of a session.
    package init(isOn: Bool) {
        self.isOn = isOn
    }

    /// When `deadlinePassed` is to be called: something waits for its time.
    package var deadline: MonotonicInstant? {
        guard case .present = server, mayShow else { return nil }
        let changes = places.values.filter { $0.wantsChange && hasRoom(for: $0) }.map { max($0.next, pace.next) }
        return (changes + places.values.compactMap(\.becomesSlow)).min()
    }

    /// Whether the notification of a place may stand there, beside those that do.
    private func hasRoom(for place: NotificationPlace) -> Bool {
        !place.isEmpty || places.values.count { !$0.isEmpty } < Self.maxShown
    }

    /// True if the user is there and wants to see notifications.
    var mayShow: Bool { isOn && !isQuiet && !isStopped }

    /// Whether offers are shown, and what became of those that were.
    package var report: ControlNotifications {
        let state: ControlNotifications.State =
            switch server {
            case _ where !isOn: .off
            case _ where isQuiet: .away
            case .present: .on
            case .absent: .unavailable
            case .unknown, .asked: .unknown
            }
        let offers = places.sorted { $0.key < $1.key }.flatMap { id, place in
            place.outcomes.map {
                ControlNotifications.Offer(device: id.device, activity: $0.activity, outcome: $0.outcome)
            }
        }
        return ControlNotifications(state: state, offers: offers)
    }

    // MARK: - What is to be shown

    /// Takes what can be continued here, the newest of each device first.
    ///
    /// - Parameter devices: whose offers these are; what others offer stays. Nil: they are all.
    package mutating func take(
        _ offers: [NotificationOffer], of devices: Set<DeviceID>? = nil, now: MonotonicInstant
    ) -> [Action] {
        let byPlace = Dictionary(grouping: offers, by: NotificationPlace.ID.init)
        for place in Set(places.keys).union(byPlace.keys) where devices?.contains(place.device) ?? true {
            places[place, default: NotificationPlace()].take(byPlace[place] ?? [], now: now)
        }
        return settle(now)
    }

    /// The session is locked, or nobody is there; or the user is back.
    package mutating func setQuiet(_ isQuiet: Bool, now: MonotonicInstant) -> [Action] {
        guard isQuiet != self.isQuiet else { return [] }
        self.isQuiet = isQuiet
        if isQuiet {
            for place in places.keys { places[place]?.userLeft() }
        }
        return settle(now)
    }

    /// Notifications are switched on or off.
    package mutating func setOn(_ isOn: Bool, now: MonotonicInstant) -> [Action] {
        self.isOn = isOn
        return settle(now)
    }

    /// An activity was continued here, in whatever way.
    package mutating func continued(_ activity: ActivityID, from device: DeviceID, now: MonotonicInstant) -> [Action] {
        for place in places.keys where place.device == device { places[place]?.accepted(activity) }
        return settle(now)
    }

    /// What the user has chosen was continued.
    package mutating func done(_ offer: NotificationOffer, now: MonotonicInstant) -> [Action] {
        let next = ended(offer)
        return settle(now) + next
    }

    /// An activity that the user wanted to continue could not be.
    ///
    /// - Parameter reason: a lower-case fragment, unchecked.
    package mutating func failed(_ offer: NotificationOffer, _ reason: String, now: MonotonicInstant) -> [Action] {
        let next = ended(offer)
        // Who has gone away meanwhile is not told of it later.
        guard mayShow else { return next }
        let line = Self.line(reason)
        places[NotificationPlace.ID(offer), default: NotificationPlace()].failed(offer, reason: line)
        return settle(now) + next
    }

    /// What was chosen is over: the next item follows.
    private mutating func ended(_ offer: NotificationOffer) -> [Action] {
        let next = places[NotificationPlace.ID(offer)]?.ended(offer.activity) ?? nil
        return next.map { [.continue($0, nil)] } ?? []
    }

    /// An app says what became of a file that it receives: whoever has chosen it in a notification is told.
    ///
    /// - Parameters:
    ///   - app: who says so.
    ///   - end: where the file is, or why it is not there: a lower-case fragment, unchecked.
    package mutating func received(
        _ activity: ActivityID, from device: DeviceID, by app: String, _ end: ReceivedEnd, now: MonotonicInstant
    ) -> [Action] {
        var end = end
        if case .failed(let reason) = end { end = .failed(Self.line(reason)) }
        for place in places.keys where place.device == device { places[place]?.received(activity, by: app, end) }
        return settle(now)
    }

    private static func line(_ reason: String) -> String {
        NotificationText.line(reason, most: 2 * NotificationText.maxCharacters) ?? "the reason is not known"
    }

    /// The moment of `deadline` has come.
    package mutating func deadlinePassed(now: MonotonicInstant) -> [Action] { settle(now) }

    /// Ends it: everything is taken off the screen, what is on its way there with its answer.
    package mutating func stop(now: MonotonicInstant) -> [Action] {
        isStopped = true
        return settle(now)
    }

    /// No answer is waited for any more: what was about to be replaced is taken off, the rest stays.
    package mutating func giveUp() -> [Action] {
        places.keys.sorted().compactMap { places[$0]?.clearForGood().map { .withdraw($0) } }
    }

    /// Whether something is on its way to the screen.
    package var awaitsAnswer: Bool { places.values.contains(where: \.isSending) }

    // MARK: - The server

    /// There may be a server now, which has nothing on the screen.
    package mutating func serverAppeared(now: MonotonicInstant) -> [Action] {
        forgetScreen()
        if case .asked = server {
            hasAppearedMeanwhile = true
            return []
        }
        server = .unknown
        return settle(now)
    }

    /// The server is gone, and what it had on the screen. It is not asked for at once: it may end with the session.
    package mutating func serverGone(now: MonotonicInstant) {
        forgetScreen()
        hasAppearedMeanwhile = false
        server = .absent(until: now + Self.timeout)
    }

    /// The answer to the question with this number; nil when there is no server.
    package mutating func answered(
        _ number: UInt64, _ capabilities: NotificationCapabilities?, now: MonotonicInstant
    ) -> [Action] {
        guard server == .asked(number) else { return [] }
        // That there is none was true before it appeared, and only came later.
        let isOutdated = capabilities == nil && hasAppearedMeanwhile
        hasAppearedMeanwhile = false
        server = isOutdated ? .unknown : capabilities.map { .present($0) } ?? .absent(until: now + Self.timeout)
        return settle(now)
    }

    /// The notification with this number has an id; nil when the server did not take it.
    package mutating func shown(_ number: UInt64, as id: UInt32?, now: MonotonicInstant) -> [Action] {
        for place in places.keys { places[place]?.shown(number, as: id) }
        return settle(now)
    }

    /// A notification is gone from the screen; `reason` as the specification numbers it.
    package mutating func closed(_ id: UInt32, reason: UInt32, now: MonotonicInstant) -> [Action] {
        for place in places.keys { places[place]?.closed(id, byUser: reason == 2) }
        return settle(now)
    }

    /// The token for what the user is about to choose.
    package mutating func token(_ id: UInt32, _ text: String) {
        for place in places.keys { places[place]?.note(ActivationToken(text), for: id) }
    }

    /// The user has chosen something.
    package mutating func chosen(_ id: UInt32, key: String, now: MonotonicInstant) -> [Action] {
        guard let place = places.first(where: { $0.value.stands(id) })?.key else { return [] }
        // Then the next one was sent before, and the server may have given it the same id.
        let isReplaced = places[place]?.isSending ?? false
        // Most servers take it off by themselves, and not all.
        let withdrawal: [Action] = isReplaced ? [] : [.withdraw(id)]
        let isClick = key == NotificationContent.Key.click
        let shows = key == NotificationContent.Key.show
        if isClick || key == NotificationContent.Key.open || shows, let saved = places[place]?.acceptSaved(id) {
            return withdrawal + settle(now) + Self.open(saved.files, shows: shows, saved.token)
        }
        switch key {
        case NotificationContent.Key.click, NotificationContent.Key.continue:
            let chosen = places[place]?.accept(id, now: now)
            // A token lets one window come to the front.
            let continued = (chosen?.offers ?? []).enumerated().map { index, offer in
                Action.continue(offer, index == 0 ? chosen?.token : nil)
            }
            return withdrawal + settle(now) + continued
        case NotificationContent.Key.dismiss:
            let declined = places[place]?.choosable(id).filter(\.isSent) ?? []
            places[place]?.closed(id, byUser: true)
            return withdrawal + settle(now) + declined.map { .decline($0) }
        case NotificationContent.Key.mute:
            let muted = places[place]?.choosable(id).first?.app
            places[place]?.closed(id, byUser: true)
            return withdrawal + settle(now) + (muted.map { [.mute($0)] } ?? [])
        default: return []
        }
    }

    /// Opens one file; several are shown, once for each folder.
    private static func open(
        _ files: [NotificationContent.SavedFile], shows: Bool, _ token: ActivationToken?
    ) -> [Action] {
        var folders: Set<Substring?> = []
        return files.filter { folders.insert($0.folder).inserted }
            .map { .open($0.path, shows: shows || files.count > 1, token) }
    }

    private mutating func forgetScreen() {
        for place in places.keys { places[place]?.forgetScreen() }
    }

    // MARK: - Settling

    private mutating func settle(_ now: MonotonicInstant) -> [Action] {
        var actions: [Action] = []
        // In an order that a test can know.
        for id in places.keys.sorted() {
            guard var place = places[id] else { continue }
            place.look(at: now)
            if let action = settle(&place, now) { actions.append(action) }
            places[id] = place.isForgettable(at: now) ? nil : place
        }
        if mayShow, places.values.contains(where: { $0.wish != nil }) {
            switch server {
            case .unknown: actions.append(ask())
            case .absent(let until) where now >= until: actions.append(ask())
            case .absent, .asked, .present: break
            }
        }
        return actions
    }

    private mutating func settle(_ place: inout NotificationPlace, _ now: MonotonicInstant) -> Action? {
        guard case .present(let capabilities) = server else { return nil }
        guard mayShow, let wish = place.wish else { return place.clear().map { .withdraw($0) } }
        guard place.wantsChange, hasRoom(for: place) else { return nil }
        let wait = max(place.next, pace.next) - now
        guard wait <= .zero else {
            // What nobody offers any more may stand there for a moment, until the next takes its place, and not for long.
            return place.isOutdated && wait > NotificationRateLimiter.gap ? place.clear().map { .withdraw($0) } : nil
        }
        lastNumber += 1
        pace.changed(at: now)
        let former = place.show(wish, number: lastNumber, now: now)
        return .show(lastNumber, wish.rendered(capabilities), replacing: former)
    }

    private mutating func ask() -> Action {
        lastNumber += 1
        server = .asked(lastNumber)
        return .ask(lastNumber)
    }
}
