package import HandoffControl
package import HandoffModel
package import LoopIO

/// An activity on offer, as a notification speaks of it. Plain values; all text is one line and safe to show.
package struct NotificationOffer: Sendable, Equatable {
    /// The device that offers it.
    package let device: DeviceID
    /// Its id.
    package let activity: ActivityID
    /// What would open it: the name of an app, or words for the browser.
    package let opener: String
    /// What the user is doing there.
    package let title: String?
    /// What the device is called.
    package let deviceName: String
    /// What the device is.
    package let kind: DeviceKind

    /// Nil for an offer that nothing opens here.
    package init?(_ offer: ControlActivity) {
        switch offer.opens.kind {
        case .nothing: return nil
        case .app: opener = offer.opens.name.flatMap { NotificationText.line($0) } ?? "App"
        case .web: opener = "Web browser"
        }
        device = offer.device
        activity = offer.id
        title = offer.title.flatMap { NotificationText.line($0) }
        deviceName = NotificationText.line(offer.deviceName) ?? "another device"
        kind = offer.deviceKind
    }

    /// The offer in a few words.
    var headline: String { title.map { "\(opener): \($0)" } ?? opener }
}

/// What stands in the place that a device has on the screen.
package enum NotificationContent: Sendable, Equatable {
    /// Something that can be continued.
    case offer(NotificationOffer)
    /// Why something that the user wanted to continue was not; the reason is one line, safe to show.
    case failure(NotificationOffer, reason: String)

    /// The offer that it is about.
    var offer: NotificationOffer {
        switch self {
        case .offer(let offer), .failure(let offer, _): offer
        }
    }

    /// The keys of what the user can choose.
    enum Key {
        /// A click on the notification itself; most servers show no button for it.
        static let click = "default"
        static let `continue` = "continue"
        static let dismiss = "dismiss"
    }

    /// The notification for a server that can do this much.
    package func rendered(_ capabilities: NotificationCapabilities) -> DesktopNotification {
        let headline: String
        let detail: String
        var choices: [DesktopNotification.Choice] = []
        switch self {
        case .offer(let offer):
            headline = offer.headline
            detail = "from \(offer.deviceName)"
            choices = [
                DesktopNotification.Choice(key: Key.click, label: "Continue"),
                DesktopNotification.Choice(key: Key.continue, label: "Continue"),
                DesktopNotification.Choice(key: Key.dismiss, label: "Dismiss"),
            ]
        case .failure(let offer, let reason):
            headline = "Not continued: \(offer.title ?? offer.opener)"
            detail = NotificationText.sentence(reason)
        }
        return DesktopNotification(
            summary: capabilities.hasBody ? headline : "\(headline) – \(detail)",
            body: !capabilities.hasBody ? "" : capabilities.hasMarkup ? NotificationText.escaped(detail) : detail,
            icon: Self.icon(offer.kind), choices: capabilities.hasActions ? choices : [])
    }

    /// The icon of a device's kind (Icon Naming Specification; `computer-laptop` is in all large themes).
    private static func icon(_ kind: DeviceKind) -> String {
        switch kind {
        case .laptop: "computer-laptop"
        case .tablet: "pda"
        case .phone: "phone"
        case .server: "network-server"
        case .desktop, .vm, .other: "computer"
        }
    }
}
