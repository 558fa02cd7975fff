package import HandoffDesktop
import HandoffModel

/// What stands in the place that a device has on the screen.
package enum NotificationContent: Sendable, Equatable {
    /// Something that can be continued; `more` is the number of the device's other offers.
    case offer(NotificationOffer, more: Int = 0)
    /// The items that the device's user has sent to this device and that wait here, in the order in which they were sent.
    /// Never empty.
    case items([NotificationOffer])
    /// What the user has chosen, while it is on its way: its app may have to be started first.
    case progress(NotificationOffer)
    /// Why something that the user wanted to continue was not; the reason is one line, safe to show.
    case failure(NotificationOffer, reason: String)
    /// The files that the user wanted are complete. Never empty.
    case saved([SavedFile])

    /// A file that was received.
    package struct SavedFile: Sendable, Equatable {
        /// The offer that it was.
        let offer: NotificationOffer
        /// Where it is.
        let path: String

        /// The folder that it is in; nil for none with a name.
        var folder: Substring? { path.split(separator: "/").dropLast().last }
    }

    /// The offers that it is about.
    var offers: [NotificationOffer] {
        switch self {
        case .offer(let offer, _), .progress(let offer), .failure(let offer, _): [offer]
        case .items(let items): items
        case .saved(let files): files.map(\.offer)
        }
    }

    /// The offers that the user can accept or decline; none once that is decided.
    var choosable: [NotificationOffer] {
        switch self {
        case .offer, .items: offers
        case .progress, .failure, .saved: []
        }
    }

    /// Whether it is the same as another one, except for the number of further offers, which is no reason to disturb anyone.
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
            headline = offer.headline
            let origin = "from \(offer.deviceName)"
            detail = more > 0 ? "\(origin), which offers \(more) more" : origin
            choices = Self.decisions(offer.isFile ? "Save" : "Continue")
            if offer.app != nil {
                choices.append(DesktopNotification.Choice(key: Key.mute, label: "Not from \(offer.opener)"))
            }
        case .items(let items):
            let sender = items.first?.deviceName ?? ""
            let isOne = items.count == 1
            headline = "\(sender) sends you \(isOne ? items.first?.label ?? "" : Self.count(items))"
            let parts = [
                isOne ? nil : NotificationText.list(items.map(\.label)),
                Self.openers(items.filter(\.isFile), isOne ? "goes to" : "go to"),
                Self.openers(items.filter { !$0.isFile }, isOne ? "opens in" : "open in"),
            ]
            detail = parts.compactMap(\.self).joined(separator: " · ")
            let verb = items.allSatisfy(\.isFile) ? "Save" : items.contains(where: \.isFile) ? "Accept" : "Open"
            choices = Self.decisions(isOne ? verb : "\(verb) All")
        case .progress(let offer):
            headline = "Continuing: \(offer.label)"
            detail = "from \(offer.deviceName), in \(offer.opener)"
        case .failure(let offer, let reason):
            headline = "\(offer.isFile ? "Not saved" : "Not continued"): \(offer.label)"
            detail = NotificationText.sentence(reason)
        case .saved(let files):
            let names = files.map { $0.path.split(separator: "/").last.flatMap { NotificationText.line(String($0)) } }
                .map { $0 ?? "A file" }
            let folder = files.first?.folder
            let isTogether = files.allSatisfy { $0.folder == folder }
            let place = isTogether ? folder.flatMap { NotificationText.line(String($0)) }.map { " in \($0)" } : nil
            let sender = "from \(files.first?.offer.deviceName ?? "")"
            let isOne = files.count == 1
            headline = "\(isOne ? "\(names.first ?? "A file") is" : "\(files.count) files are") saved\(place ?? "")"
            detail = isOne ? sender : "\(NotificationText.list(names)) · \(sender)"
            choices =
                isOne
                ? [
                    DesktopNotification.Choice(key: Key.click, label: "Open"),
                    DesktopNotification.Choice(key: Key.open, label: "Open"),
                ] : [DesktopNotification.Choice(key: Key.click, label: "Show in Folder")]
            choices.append(DesktopNotification.Choice(key: Key.show, label: "Show in Folder"))
        }
        let first = offers.first
        // Of several items sent together the device is what they have in common.
        let icon = offers.count == 1 ? first?.icon : nil
        var notification = Self.notification(
            headline, detail, icon: icon ?? Self.icon(first?.kind ?? .other), choices: choices, capabilities)
        notification.urgency = isAwaited ? 1 : 0
        return notification
    }

    /// Whether a user waits for it: the one who sent the items, or the one here who chose something. GNOME shows one of low urgency in
    /// its list alone. An offer can be used, and never has to be.
    private var isAwaited: Bool {
        switch self {
        case .offer, .progress: false
        case .items, .failure, .saved: true
        }
    }

    private static func decisions(_ label: String) -> [DesktopNotification.Choice] {
        [
            DesktopNotification.Choice(key: Key.click, label: label),
            DesktopNotification.Choice(key: Key.continue, label: label),
            DesktopNotification.Choice(key: Key.dismiss, label: "Dismiss"),
        ]
    }

    private static func count(_ items: [NotificationOffer]) -> String {
        "\(items.count) \(items.allSatisfy(\.isFile) ? "files" : "items")"
    }

    /// All that would open these, each once: nothing may open them that is not named. Nil for no offers.
    private static func openers(_ offers: [NotificationOffer], _ verb: String) -> String? {
        var names: [String] = []
        for offer in offers where !names.contains(offer.opener) { names.append(offer.opener) }
        return names.isEmpty ? nil : "\(verb): \(names.joined(separator: ", "))"
    }

    /// That this device is no member of its account any more, and what to do.
    ///
    /// - Parameter problem: a lower-case fragment of this program's.
    static func exclusion(_ problem: String, _ capabilities: NotificationCapabilities) -> DesktopNotification {
        var notification = notification(
            NotificationText.sentence(problem),
            "Join again with the code of a device of the account, in the window Handoff or by: handoffctl join",
            icon: "dialog-warning", choices: [], capabilities)
        notification.urgency = 1
        return notification
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
