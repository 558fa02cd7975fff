package import HandoffDesktop
import HandoffModel

/// What stands in the place that a device has on the screen.
package enum NotificationContent: Sendable, Equatable {
    /// Something that can be continued; `more` is what the device offers beside it.
    case offer(NotificationOffer, more: Int = 0)
    /// What the user has chosen, while it is on its way: its app may have to be started first.
    case progress(NotificationOffer)
    /// Why something that the user wanted to continue was not; the reason is one line, safe to show.
    case failure(NotificationOffer, reason: String)
    /// A file that the user wanted is complete, at this path.
    case saved(NotificationOffer, path: String)

    /// The offer that it is about.
    var offer: NotificationOffer {
        switch self {
        case .offer(let offer, _), .progress(let offer), .failure(let offer, _), .saved(let offer, _): offer
        }
    }

    /// Whether it says the same as another one, but for how much more there is: nobody is disturbed for that.
    func isSame(as other: NotificationContent) -> Bool {
        guard case .offer(let offer, _) = self, case .offer(let another, _) = other else { return self == other }
        return offer == another
    }

    /// The keys of what the user can choose.
    enum Key {
        /// A click on the notification itself; most servers show no button for it.
        static let click = "default"
        static let `continue` = "continue"
        static let dismiss = "dismiss"
        static let mute = "mute"
        static let open = "open"
        static let show = "show"
    }

    /// The notification for a server that can do this much.
    package func rendered(_ capabilities: NotificationCapabilities) -> DesktopNotification {
        let headline: String
        let detail: String
        var choices: [DesktopNotification.Choice] = []
        switch self {
        case .offer(let offer, let more):
            headline = offer.isSent ? "\(offer.deviceName) sends you \(offer.title ?? offer.opener)" : offer.headline
            let opens = offer.isFile ? "goes to: \(offer.opener)" : "opens in: \(offer.opener)"
            let origin = offer.isSent ? opens : "from \(offer.deviceName)"
            detail = more > 0 ? "\(origin), which offers \(more) more" : origin
            let label = offer.isFile ? "Save" : offer.isSent ? "Open" : "Continue"
            choices = [
                DesktopNotification.Choice(key: Key.click, label: label),
                DesktopNotification.Choice(key: Key.continue, label: label),
                DesktopNotification.Choice(key: Key.dismiss, label: "Dismiss"),
            ]
            // What was sent by hand comes seldom, and is wanted.
            if offer.app != nil, !offer.isSent {
                choices.append(DesktopNotification.Choice(key: Key.mute, label: "Not from \(offer.opener)"))
            }
        case .progress(let offer):
            headline = "Continuing: \(offer.title ?? offer.opener)"
            detail = "from \(offer.deviceName), in \(offer.opener)"
        case .failure(let offer, let reason):
            headline = "\(offer.isFile ? "Not saved" : "Not continued"): \(offer.title ?? offer.opener)"
            detail = NotificationText.sentence(reason)
        case .saved(let offer, let path):
            let names = path.split(separator: "/").suffix(2).map { NotificationText.line(String($0)) ?? "a file" }
            let folder = names.count == 2 ? " in \(names[0])" : ""
            headline = "\(names.last ?? "A file") is saved\(folder)"
            detail = "from \(offer.deviceName)"
            choices = [
                DesktopNotification.Choice(key: Key.click, label: "Open"),
                DesktopNotification.Choice(key: Key.open, label: "Open"),
                DesktopNotification.Choice(key: Key.show, label: "Show in Folder"),
            ]
        }
        return Self.notification(
            headline, detail, icon: offer.icon ?? Self.icon(offer.kind), choices: choices, capabilities)
    }

    /// That this device is no member of its account any more, and what to do.
    ///
    /// - Parameter problem: a lower-case fragment of this program's.
    static func exclusion(_ problem: String, _ capabilities: NotificationCapabilities) -> DesktopNotification {
        notification(
            NotificationText.sentence(problem),
            "Join again with the code of a device of the account, in the window Handoff or by: handoffctl join",
            icon: "dialog-warning", choices: [], capabilities)
    }

    private static func notification(
        _ headline: String, _ detail: String, icon: String, choices: [DesktopNotification.Choice],
        _ capabilities: NotificationCapabilities
    ) -> DesktopNotification {
        DesktopNotification(
            summary: capabilities.hasBody ? headline : "\(headline) – \(detail)",
            body: !capabilities.hasBody ? "" : capabilities.hasMarkup ? NotificationText.escaped(detail) : detail,
            icon: icon, choices: capabilities.hasActions ? choices : [])
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
