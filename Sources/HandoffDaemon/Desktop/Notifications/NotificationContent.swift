package import HandoffHandlers
import HandoffModel

/// The content of one of a device's places on the screen.
package enum NotificationContent: Sendable, Equatable {
    /// An activity that can be continued; `more` is the number of the device's other offers.
    case offer(NotificationOffer, more: Int = 0)
    /// The items that the device's user has sent to this device and that are pending, in the order
    /// in which they were sent. Never empty.
    case items([NotificationOffer])
    /// The activity that the user has chosen, until it is continued. Its app may have to be started
    /// first.
    case progress(NotificationOffer)
    /// Files that are arriving.
    case arriving(Progress)
    /// The reason why an activity was not continued, as one line that is safe to show.
    case failure(NotificationOffer, reason: String)
    /// An activity was continued, and this device lacks folders or checkouts for it, as a list that is
    /// safe to show.
    case incomplete(NotificationOffer, missing: String)
    /// Files that the user has chosen are complete. Never empty.
    case saved([SavedFile])

    /// A file that was received.
    package struct SavedFile: Sendable, Equatable {
        /// The offer of the file.
        let offer: NotificationOffer
        /// The path of the file.
        let path: String

        /// The name of the parent folder; nil if it has none.
        var folder: Substring? { path.split(separator: "/").dropLast().last }
    }

    /// The progress of files that are arriving.
    package struct Progress: Sendable, Equatable {
        /// The offers of the files that are arriving. Never empty.
        let offers: [NotificationOffer]
        /// The number of files that are already saved, and of those that have not started.
        let completed: Int
        let waiting: Int
        /// The number of bytes of all these files that exist here.
        let received: Int64
        /// The total number of bytes; nil if unknown.
        let size: Int64?

        var count: Int { offers.count + completed + waiting }

        /// The progress in percent; nil if unknown.
        var percent: Int64? {
            guard let size, size > 0 else { return nil }
            return Int64(Double(min(max(received, 0), size)) / Double(size) * 100)
        }
    }

    /// The offers that the notification is about.
    var offers: [NotificationOffer] {
        switch self {
        case .offer(let offer, _), .progress(let offer), .failure(let offer, _), .incomplete(let offer, _): [offer]
        case .items(let items): items
        case .arriving(let progress): progress.offers
        case .saved(let files): files.map(\.offer)
        }
    }

    /// The offers that the user can accept or decline; empty after the decision.
    var choosable: [NotificationOffer] {
        switch self {
        case .offer, .items: offers
        case .progress, .arriving, .failure, .incomplete, .saved: []
        }
    }

    /// True if both contents are the same, except for the number of other offers, which does not
    /// justify a new notification.
    func isSame(as other: NotificationContent) -> Bool {
        guard case .offer(let offer, _) = self, case .offer(let another, _) = other else { return self == other }
        return offer == another
    }

    /// The keys of actions.
    enum Key {
        /// A click on the notification itself. Most servers show no button for it.
        static let click = "default"
        static let `continue` = "continue"
        static let saveAs = "save-as"
        static let dismiss = "dismiss"
        static let cancel = "cancel"
        static let mute = "mute"
        static let open = "open"
        static let show = "show"
    }

    /// Returns the notification for a server with these capabilities.
    package func rendered(_ capabilities: NotificationCapabilities) -> DesktopNotification {
        let headline: String
        let detail: String
        var choices: [DesktopNotification.Choice] = []
        switch self {
        case .offer(let offer, let more):
            headline = offer.headline
            let origin = "from \(offer.deviceName)"
            detail = more > 0 ? "\(origin) · \(more) more available" : origin
            choices = Self.decisions(offer.isFile ? "Save" : offer.isText ? "Copy" : "Continue", or: "Dismiss")
            if offer.app != nil {
                choices.append(DesktopNotification.Choice(key: Key.mute, label: "Mute \(offer.opener)"))
            }
        case .items(let items):
            let sender = items.first?.deviceName ?? ""
            let isOne = items.count == 1
            headline = "\(sender) sent you \(isOne ? items.first?.label ?? "" : Self.count(items))"
            let parts = [
                isOne ? nil : NotificationText.list(items.map(\.label)),
                Self.openers(items.filter(\.isFile), isOne ? "goes to" : "go to"),
                Self.openers(items.filter { !$0.isFile }, isOne ? "opens in" : "open in"),
            ]
            detail = parts.compactMap(\.self).joined(separator: " · ")
            let verb =
                items.allSatisfy(\.isFile)
                ? "Save"
                : items.allSatisfy(\.isText)
                    ? "Copy" : items.contains { $0.isFile || $0.isText } ? "Accept" : "Open"
            choices = Self.decisions(isOne ? verb : "\(verb) All", or: "Decline")
            if capabilities.savesItems, items.allSatisfy(\.isFile) {
                choices.insert(DesktopNotification.Choice(key: Key.saveAs, label: "Save As…"), at: choices.count - 1)
            }
        case .progress(let offer):
            headline = "Continuing: \(offer.label)"
            detail = "from \(offer.deviceName), in \(offer.opener)"
        case .arriving(let progress):
            let first = progress.offers.first
            headline = "Saving \(progress.count == 1 ? first?.label ?? "" : "\(progress.count) files")"
            let amount = ByteText.text(progress.received)
            let parts = [
                progress.percent.map { "\($0)%" }, progress.size.map { "\(amount) of \(ByteText.text($0))" } ?? amount,
                progress.completed > 0 ? "\(progress.completed) saved" : nil, "from \(first?.deviceName ?? "")",
            ]
            detail = parts.compactMap(\.self).joined(separator: " · ")
            choices = [DesktopNotification.Choice(key: Key.cancel, label: "Cancel")]
        case .failure(let offer, let reason):
            headline = "Could not \(offer.isFile ? "save" : "continue") \(offer.label)"
            detail = NotificationText.sentence(reason)
        case .incomplete(let offer, let missing):
            headline = "\(offer.label) from \(offer.deviceName): something is missing"
            detail = "Not on this device: \(missing)"
        case .saved(let files):
            let names = files.map { $0.path.split(separator: "/").last.flatMap { NotificationText.line(String($0)) } }
                .map { $0 ?? "A file" }
            let folder = files.first?.folder
            let isTogether = files.allSatisfy { $0.folder == folder }
            let place = isTogether ? folder.flatMap { NotificationText.line(String($0)) }.map { " to \($0)" } : nil
            let sender = "from \(files.first?.offer.deviceName ?? "")"
            let isOne = files.count == 1
            headline = "\(isOne ? names.first ?? "A file" : "\(files.count) files") saved\(place ?? "")"
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
        // Several items sent together have only the device in common.
        let icon = offers.count == 1 ? first?.icon : nil
        var notification = Self.notification(
            headline, detail, icon: icon ?? Self.icon(first?.kind ?? .other), choices: choices, capabilities)
        notification.urgency = isAwaited ? 1 : 0
        if case .arriving(let progress) = self { notification.progress = progress.percent }
        return notification
    }

    /// True if a user waits for the notification: the user who sent the items, or the local user
    /// after a choice. GNOME shows notifications of low urgency only in its list. Offers are
    /// optional and therefore not urgent.
    private var isAwaited: Bool {
        switch self {
        case .offer, .progress, .arriving: false
        case .items, .failure, .incomplete, .saved: true
        }
    }

    private static func decisions(_ label: String, or refusal: String) -> [DesktopNotification.Choice] {
        [
            DesktopNotification.Choice(key: Key.click, label: label),
            DesktopNotification.Choice(key: Key.continue, label: label),
            DesktopNotification.Choice(key: Key.dismiss, label: refusal),
        ]
    }

    private static func count(_ items: [NotificationOffer]) -> String {
        "\(items.count) \(items.allSatisfy(\.isFile) ? "files" : "items")"
    }

    /// Lists every app that would open these offers, each once, so that no unnamed app opens them.
    /// Nil if there are no offers.
    private static func openers(_ offers: [NotificationOffer], _ verb: String) -> String? {
        var names: [String] = []
        for offer in offers where !names.contains(offer.opener) { names.append(offer.opener) }
        return names.isEmpty ? nil : "\(verb): \(names.joined(separator: ", "))"
    }

    /// Returns the notification that this device is no longer a member of its account, with the
    /// remedy.
    ///
    /// - Parameter problem: A lower-case sentence fragment from this program.
    static func exclusion(_ problem: String, _ capabilities: NotificationCapabilities) -> DesktopNotification {
        var notification = notification(
            NotificationText.sentence(problem),
            "To rejoin, use a code from a device in the account: open Handoff, or run handoffctl join",
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

    /// The icon for a kind of device (Icon Naming Specification; all large themes have
    /// `computer-laptop`).
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
