package import HandoffControl
package import HandoffHandlers
package import HandoffModel
import LoopIO

/// Decides which notification is shown for which device, and the next calls to the notification
/// server. Plain values with time as a parameter.
///
/// Each device has one place for its offers and another for the items that it sends. The desired
/// content of a place follows from the device's offers and the user's choices. The server reports
/// the actual content. Each event ends with `settle`, which brings the actual content in line with
/// the desired one.
/// Diagram: `docs/state-machines/notifications.md`.
package struct NotificationMachine: Sendable {
    /// An action for the driver.
    package enum Action: Equatable, Sendable {
        /// Request the server's capabilities; `answered` receives them with this number.
        case ask(UInt64)
        /// Show a notification in place of the one with an id, 0 for none; `shown` receives the new
        /// id with this number.
        case show(UInt64, DesktopNotification, replacing: UInt32)
        /// Remove a notification from the screen.
        case withdraw(UInt32)
        /// Continue an activity; `failed` receives the reason if that fails.
        case `continue`(NotificationOffer, ActivationToken?)
        /// Notify the device that sent an item that the user declined it.
        case decline(NotificationOffer)
        /// Let the user choose a folder for these items.
        case saveAs([NotificationOffer], ActivationToken?)
        /// Show no more notifications of this app.
        case mute(AppID)
        /// Open a file at a path, or show it in its folder.
        case open(String, shows: Bool, ActivationToken?)
    }

    /// The time between queries while there is no server, unless one appears: the bus may try to
    /// start one each time.
    static let timeout = Duration.seconds(60)

    private enum Server: Equatable {
        /// No query was sent yet.
        case unknown
        /// The query with this number is pending.
        case queried(UInt64)
        /// There is a server with these capabilities.
        case present(NotificationCapabilities)
        /// There is no server; do not query again before this time.
        case absent(until: MonotonicInstant)
    }

    private var server = Server.unknown
    /// True if a server has appeared since the pending query was sent.
    private var hasAppearedMeanwhile = false
    private var places: [NotificationPlace.ID: NotificationPlace] = [:]
    private var rateLimiter = NotificationRateLimiter.ofScreen
    /// The maximum number of notifications at a time; `list` shows all offers.
    package static let maxShown = 8
    private var isOn: Bool
    /// True if the user is away, or others might see the screen.
    private var isQuiet = true
    private var isStopped = false
    private var lastNumber: UInt64 = 0

    /// Creates a machine that shows nothing until a session is reported.
    package init(isOn: Bool) {
        self.isOn = isOn
    }

    /// The time for the next call of `deadlinePassed`; nil if nothing is pending.
    package var deadline: MonotonicInstant? {
        guard case .present = server, mayShow else { return nil }
        let changes = places.values.filter { $0.wantsChange && hasRoom(for: $0) }.map(next)
        return (changes + places.values.compactMap(\.becomesSlow)).min()
    }

    /// The earliest time for a change of a place.
    private func next(_ place: NotificationPlace) -> MonotonicInstant {
        place.isUpdate ? place.next : max(place.next, rateLimiter.next)
    }

    /// True if the place's notification may be shown in addition to the present ones.
    private func hasRoom(for place: NotificationPlace) -> Bool {
        !place.isEmpty || places.values.count { !$0.isEmpty } < Self.maxShown
    }

    /// True if the user is present and has enabled notifications.
    var mayShow: Bool { isOn && !isQuiet && !isStopped }

    /// The state of notifications, and the outcome of those that were shown.
    package var report: ControlNotifications {
        let state: ControlNotifications.State =
            switch server {
            case _ where !isOn: .off
            case _ where isQuiet: .away
            case .present: .on
            case .absent: .unavailable
            case .unknown, .queried: .unknown
            }
        let offers = places.sorted { $0.key < $1.key }.flatMap { id, place in
            place.outcomes.map {
                ControlNotifications.Offer(device: id.device, activity: $0.activity, outcome: $0.outcome)
            }
        }
        return ControlNotifications(state: state, offers: offers)
    }

    // MARK: - Content

    /// Sets the activities that can be continued here, the newest of each device first.
    ///
    /// - Parameter devices: The devices whose offers are replaced; offers of others are kept. Nil
    ///   replaces all.
    package mutating func take(
        _ offers: [NotificationOffer], of devices: Set<DeviceID>? = nil, now: MonotonicInstant
    ) -> [Action] {
        let byPlace = Dictionary(grouping: offers, by: NotificationPlace.ID.init)
        for place in Set(places.keys).union(byPlace.keys) where devices?.contains(place.device) ?? true {
            places[place, default: NotificationPlace()].take(byPlace[place] ?? [], now: now)
        }
        return settle(now)
    }

    /// Records that the session is locked or the user is away, or that the user is back.
    package mutating func setQuiet(_ isQuiet: Bool, now: MonotonicInstant) -> [Action] {
        guard isQuiet != self.isQuiet else { return [] }
        self.isQuiet = isQuiet
        if isQuiet {
            for place in places.keys { places[place]?.userLeft() }
        }
        return settle(now)
    }

    /// Enables or disables notifications.
    package mutating func setOn(_ isOn: Bool, now: MonotonicInstant) -> [Action] {
        self.isOn = isOn
        return settle(now)
    }

    /// Records that an activity was continued here, in any way.
    package mutating func continued(_ activity: ActivityID, from device: DeviceID, now: MonotonicInstant) -> [Action] {
        for place in places.keys where place.device == device { places[place]?.accepted(activity) }
        return settle(now)
    }

    /// Records that the chosen activity was continued.
    package mutating func done(_ offer: NotificationOffer, now: MonotonicInstant) -> [Action] {
        let next = ended(offer)
        return settle(now) + next
    }

    /// Records that an activity could not be continued.
    ///
    /// - Parameter reason: A lower-case sentence fragment, unchecked.
    package mutating func failed(_ offer: NotificationOffer, _ reason: String, now: MonotonicInstant) -> [Action] {
        let next = ended(offer)
        // A user who has left meanwhile is not notified later.
        guard mayShow || offer.limit != nil else { return next }
        let line = Self.line(reason)
        places[NotificationPlace.ID(offer), default: NotificationPlace()].failed(offer, reason: line)
        return settle(now) + next
    }

    /// Records that the chosen activity was continued from a copy, or needs things that this device
    /// lacks.
    ///
    /// - Parameter missing: A list of noun phrases, unchecked; nil if it lacks nothing.
    package mutating func incomplete(
        _ offer: NotificationOffer, _ missing: String?, now: MonotonicInstant
    ) -> [Action] {
        guard mayShow else { return [] }
        let line = missing.map(Self.line)
        places[NotificationPlace.ID(offer), default: NotificationPlace()].continued(offer, missing: line)
        return settle(now)
    }

    /// Records that the chosen activity was not continued because of a newer state.
    package mutating func foundNewer(
        _ note: NewerNote, than offer: NotificationOffer, now: MonotonicInstant
    ) -> [Action] {
        guard mayShow else { return [] }
        places[NotificationPlace.ID(offer), default: NotificationPlace()].note(offer, .newer(offer, note))
        return settle(now)
    }

    /// Removes the chosen item and returns the action for the next one.
    private mutating func ended(_ offer: NotificationOffer) -> [Action] {
        let next = places[NotificationPlace.ID(offer)]?.ended(offer.activity) ?? nil
        return next.map { [.continue($0, nil)] } ?? []
    }

    /// Records the result of a file that an app received. The user is notified if they chose the
    /// file in a notification.
    ///
    /// - Parameters:
    ///   - app: The app that reports the result.
    ///   - end: The path of the file, or the reason why it was not saved: a lower-case sentence
    ///     fragment, unchecked.
    package mutating func received(
        _ activity: ActivityID, from device: DeviceID, by app: String, _ end: ReceivedEnd, now: MonotonicInstant
    ) -> [Action] {
        var end = end
        if case .failed(let reason) = end { end = .failed(Self.line(reason)) }
        for place in places.keys where place.device == device { places[place]?.received(activity, by: app, end) }
        return settle(now)
    }

    /// Records the progress of a file that an app receives.
    ///
    /// - Returns: the reply for the app, and the next actions.
    package mutating func progressed(
        _ report: ReportProgressRequest, by app: String, now: MonotonicInstant
    ) -> (reply: ReportProgressReply, actions: [Action]) {
        var reply = ReportProgressReply()
        for place in places.keys where place.device == report.device {
            reply = places[place]?.progressed(report, by: app, now: now) ?? reply
        }
        return (reply, settle(now))
    }

    /// Records the end of an app's attachment.
    package mutating func sessionEnded(_ session: SessionID, now: MonotonicInstant) -> [Action] {
        for place in places.keys { places[place]?.sessionEnded(session) }
        return settle(now)
    }

    private static func line(_ reason: String) -> String {
        NotificationText.line(reason, limit: 2 * NotificationText.maxCharacters) ?? "unknown reason"
    }

    /// Handles the expiration of `deadline`.
    package mutating func deadlinePassed(now: MonotonicInstant) -> [Action] { settle(now) }

    /// Stops: removes everything from the screen. Notifications that await an id are removed when
    /// it arrives.
    package mutating func stop(now: MonotonicInstant) -> [Action] {
        isStopped = true
        return settle(now)
    }

    /// Stops waiting for replies. Removes all notifications with a known id, including those that
    /// were about to be replaced. Others cannot be removed and stay.
    package mutating func giveUp() -> [Action] {
        places.keys.sorted().compactMap { places[$0]?.clearCompletely().map { .withdraw($0) } }
    }

    /// True if a notification awaits its id.
    package var awaitsReply: Bool { places.values.contains(where: \.isSending) }

    // MARK: - The server

    /// A server may have appeared, with nothing on the screen.
    package mutating func serverAppeared(now: MonotonicInstant) -> [Action] {
        forgetScreen()
        if case .queried = server {
            hasAppearedMeanwhile = true
            return []
        }
        server = .unknown
        return settle(now)
    }

    /// The server has gone, and its notifications with it. The next query is delayed, because the
    /// session may be ending.
    package mutating func serverGone(now: MonotonicInstant) {
        forgetScreen()
        hasAppearedMeanwhile = false
        server = .absent(until: now + Self.timeout)
    }

    /// Handles the reply to the query with this number; nil if there is no server.
    package mutating func answered(
        _ number: UInt64, _ capabilities: NotificationCapabilities?, now: MonotonicInstant
    ) -> [Action] {
        guard server == .queried(number) else { return [] }
        // The reply precedes the appearance of a server, although it arrived later.
        let isOutdated = capabilities == nil && hasAppearedMeanwhile
        hasAppearedMeanwhile = false
        server = isOutdated ? .unknown : capabilities.map { .present($0) } ?? .absent(until: now + Self.timeout)
        return settle(now)
    }

    /// Records the id of the notification with this number; nil if the server refused it.
    package mutating func shown(_ number: UInt64, as id: UInt32?, now: MonotonicInstant) -> [Action] {
        for place in places.keys { places[place]?.shown(number, as: id) }
        return settle(now)
    }

    /// A notification has left the screen; `reason` is numbered as in the specification.
    package mutating func closed(_ id: UInt32, reason: UInt32, now: MonotonicInstant) -> [Action] {
        for place in places.keys { places[place]?.closed(id, byUser: reason == 2) }
        return settle(now)
    }

    /// Stores the activation token for the upcoming choice.
    package mutating func token(_ id: UInt32, _ text: String) {
        for place in places.keys { places[place]?.note(ActivationToken(text), for: id) }
    }

    /// Handles the user's choice.
    package mutating func chosen(_ id: UInt32, key: String, now: MonotonicInstant) -> [Action] {
        guard let place = places.first(where: { $0.value.displays(id) })?.key else { return [] }
        // The replacement has been sent, and the server may have given it the same id.
        let isReplaced = places[place]?.isSending ?? false
        // Most servers remove a chosen notification themselves, but not all.
        let withdrawal: [Action] = isReplaced ? [] : [.withdraw(id)]
        let isClick = key == NotificationContent.Key.click
        let shows = key == NotificationContent.Key.show
        if isClick || key == NotificationContent.Key.open || shows, let saved = places[place]?.acceptSaved(id) {
            return withdrawal + settle(now) + Self.open(saved.files, shows: shows, saved.token)
        }
        if isClick || key == NotificationContent.Key.newer || key == NotificationContent.Key.older,
            let choice = places[place]?.acceptState(id, isOlder: key == NotificationContent.Key.older)
        {
            return withdrawal + chosen(choice.offer, token: choice.token, now: now)
        }
        switch key {
        case NotificationContent.Key.click, NotificationContent.Key.continue:
            let chosen = places[place]?.accept(id, now: now)
            // A token lets only one window come to the front.
            let continued = (chosen?.offers ?? []).enumerated().map { index, offer in
                Action.continue(offer, index == 0 ? chosen?.token : nil)
            }
            return withdrawal + settle(now) + continued
        case NotificationContent.Key.dismiss:
            let declined = places[place]?.choosable(id).filter(\.isSent) ?? []
            places[place]?.closed(id, byUser: true)
            return withdrawal + settle(now) + declined.map { .decline($0) }
        case NotificationContent.Key.saveAs:
            let items = places[place]?.choosable(id) ?? []
            let token = places[place]?.token(of: id)
            // Until they are saved, the items stay on offer.
            places[place]?.closed(id, byUser: false)
            return withdrawal + settle(now) + (items.isEmpty ? [] : [.saveAs(items, token)])
        case NotificationContent.Key.cancel:
            places[place]?.cancel(id)
            return withdrawal + settle(now)
        case NotificationContent.Key.mute:
            let muted = places[place]?.choosable(id).first?.app
            places[place]?.closed(id, byUser: true)
            return withdrawal + settle(now) + (muted.map { [.mute($0)] } ?? [])
        default: return []
        }
    }

    /// Handles the user's choice of an offer outside of its notification.
    package mutating func chosen(
        _ offer: NotificationOffer, token: ActivationToken?, now: MonotonicInstant
    ) -> [Action] {
        let next = places[NotificationPlace.ID(offer), default: NotificationPlace()].accept(offer, now: now)
        return settle(now) + next.map { .continue($0, token) }
    }

    /// Opens a single file. Several files are shown, once per folder.
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
        // In a deterministic order, for tests.
        for id in places.keys.sorted() {
            guard var place = places[id] else { continue }
            place.updateSlow(at: now)
            if let action = settle(&place, now) { actions.append(action) }
            places[id] = place.isForgettable(at: now) ? nil : place
        }
        if mayShow, places.values.contains(where: { $0.wish != nil }) {
            switch server {
            case .unknown: actions.append(ask())
            case .absent(let until) where now >= until: actions.append(ask())
            case .absent, .queried, .present: break
            }
        }
        return actions
    }

    private mutating func settle(_ place: inout NotificationPlace, _ now: MonotonicInstant) -> Action? {
        guard case .present(let capabilities) = server else { return nil }
        guard mayShow, let wish = place.wish else { return place.clear().map { .withdraw($0) } }
        guard place.wantsChange, hasRoom(for: place) else { return nil }
        let wait = next(place) - now
        guard wait <= .zero else {
            // An offer that was withdrawn may stay briefly until its replacement is shown.
            return place.isOutdated && wait > NotificationRateLimiter.gap ? place.clear().map { .withdraw($0) } : nil
        }
        lastNumber += 1
        rateLimiter.changed(at: now, isUpdate: place.isUpdate)
        let former = place.show(wish, number: lastNumber, now: now)
        return .show(lastNumber, wish.rendered(capabilities), replacing: former)
    }

    private mutating func ask() -> Action {
        lastNumber += 1
        server = .queried(lastNumber)
        return .ask(lastNumber)
    }
}
