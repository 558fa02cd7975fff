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
    /// An activity was continued from a copy, or this device lacks folders or checkouts for it, as a
    /// list that is safe to show.
    case incomplete(NotificationOffer, missing: String?)
    /// An activity was not continued because of a newer state.
    case newer(NotificationOffer, NewerNote)
    /// Files that the user has chosen are complete. Never empty.
    case saved([SavedFile])

    /// A file that was received.
    package struct SavedFile: Sendable, Equatable {
        /// The offer of the file.
        let offer: NotificationOffer
        /// The path of the file.
        let path: String

        /// The name of the file, in one line that is safe to show.
        var name: Phrase.Text {
            path.split(separator: "/").last.flatMap { NotificationText.line(String($0)) }.map { .verbatim($0) }
                ?? .message("A file")
        }

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
        case .offer(let offer, _), .progress(let offer), .failure(let offer, _), .incomplete(let offer, _),
            .newer(let offer, _):
            [offer]
        case .items(let items): items
        case .arriving(let progress): progress.offers
        case .saved(let files): files.map(\.offer)
        }
    }

    /// The offers that the user can accept or decline; empty after the decision.
    var choosable: [NotificationOffer] {
        switch self {
        case .offer, .items: offers
        case .progress, .arriving, .failure, .incomplete, .newer, .saved: []
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
        static let newer = "newer"
        static let older = "older"
    }

    /// Returns the notification for a server with these capabilities.
    package func rendered(_ capabilities: NotificationCapabilities) -> DesktopNotification {
        let headline: Phrase
        var details: [Phrase] = []
        var choices: [DesktopNotification.Choice] = []
        switch self {
        case .offer(let offer, let more):
            headline = offer.headline
            details = Self.source(offer)
            if more > 0 { details.append(.plural("{count} more available", "{count} more available", more)) }
            choices = Self.decisions(
                offer.isFile ? .phrase("Save") : offer.isText ? .phrase("Copy") : .phrase("Continue"),
                or: .phrase("Dismiss"))
            if offer.app != nil {
                let label = Phrase.phrase("Mute {app}", ["app": [offer.opener]])
                choices.append(DesktopNotification.Choice(key: Key.mute, label: label))
            }
        case .items(let items):
            headline = Self.sent(items)
            if items.count > 1 { details = [NotificationText.list(items.map(\.label))] }
            details += Self.openers(items)
            choices = Self.decisions(Self.acceptance(of: items), or: .phrase("Decline"))
            if capabilities.savesItems, items.allSatisfy(\.isFile) {
                let choice = DesktopNotification.Choice(key: Key.saveAs, label: .phrase("Save As…"))
                choices.insert(choice, at: choices.count - 1)
            }
        case .progress(let offer):
            headline = .phrase("Continuing: {title}", ["title": [offer.label]])
            details = [.phrase("from {device}, in {app}", ["device": [offer.deviceName], "app": [offer.opener]])]
        case .arriving(let progress):
            let first = progress.offers.first
            headline =
                progress.count == 1
                ? .phrase("Saving {file}", ["file": first.map { [$0.label] } ?? []])
                : .plural("Saving {count} file", "Saving {count} files", progress.count)
            let amount = Phrase.Text.verbatim(ByteText.text(progress.received))
            let parts: [Phrase?] = [
                progress.percent.map { .phrase("{percent}%", ["percent": [.verbatim("\($0)")]]) },
                progress.size.map {
                    .phrase("{amount} of {size}", ["amount": [amount], "size": [.verbatim(ByteText.text($0))]])
                } ?? .alone(amount),
                progress.completed > 0 ? .plural("{count} saved", "{count} saved", progress.completed) : nil,
                first.map(Self.origin),
            ]
            details = parts.compactMap(\.self)
            choices = [DesktopNotification.Choice(key: Key.cancel, label: .phrase("Cancel"))]
        case .failure(let offer, let reason):
            headline =
                offer.isFile
                ? .phrase("Could not save {title}", ["title": [offer.label]])
                : .phrase("Could not continue {title}", ["title": [offer.label]])
            details = [
                offer.obstacle == nil
                    ? NotificationReason.phrase(reason)
                    : .phrase(
                        "Sent by {device}: {reason}", ["device": [offer.deviceName], "reason": [.verbatim(reason)]])
            ]
        case .incomplete(let offer, let missing):
            if let missing {
                headline = .phrase(
                    "{title} from {device}: something is missing",
                    ["title": [offer.label], "device": [offer.deviceName]])
                details = [.phrase("Not on this device: {missing}", ["missing": [.verbatim(missing)]])]
                details += offer.kept?.phrases(offer.deviceName) ?? []
            } else {
                headline = .phrase("Continued: {title}", ["title": [offer.label]])
                details = Self.source(offer)
            }
        case .newer(let offer, let note):
            headline = note.headline(offer.label)
            details = [note.age]
            if note.offer != nil {
                choices = [Key.click, Key.newer].map {
                    DesktopNotification.Choice(key: $0, label: .phrase("Continue Newer"))
                }
            }
            choices.append(DesktopNotification.Choice(key: Key.older, label: .phrase("Open Older")))
        case .saved(let files):
            headline = Self.saved(files)
            if files.count > 1 { details = [NotificationText.list(files.map(\.name))] }
            details += files.prefix(1).map { Self.origin($0.offer) }
            choices =
                files.count == 1
                ? [
                    DesktopNotification.Choice(key: Key.click, label: .phrase("Open")),
                    DesktopNotification.Choice(key: Key.open, label: .phrase("Open")),
                ] : [DesktopNotification.Choice(key: Key.click, label: .phrase("Show in Folder"))]
            choices.append(DesktopNotification.Choice(key: Key.show, label: .phrase("Show in Folder")))
        }
        let first = offers.first
        // Several items sent together have only the device in common.
        let icon = offers.count == 1 ? first?.icon : nil
        var notification = Self.notification(
            headline, details, icon: icon ?? Self.icon(first?.kind ?? .other), choices: choices, capabilities)
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
        case .items, .failure, .incomplete, .newer, .saved: true
        }
    }

    private static func origin(_ offer: NotificationOffer) -> Phrase {
        .phrase("from {device}", ["device": [offer.deviceName]])
    }

    /// The device of an offer, and its notes.
    private static func source(_ offer: NotificationOffer) -> [Phrase] {
        [origin(offer)] + offer.notes(offer.deviceName)
    }

    private static func decisions(_ label: Phrase, or refusal: Phrase) -> [DesktopNotification.Choice] {
        [
            DesktopNotification.Choice(key: Key.click, label: label),
            DesktopNotification.Choice(key: Key.continue, label: label),
            DesktopNotification.Choice(key: Key.dismiss, label: refusal),
        ]
    }

    private static func sent(_ items: [NotificationOffer]) -> Phrase {
        let sender = items.prefix(1).map(\.deviceName)
        if items.count == 1 {
            return .phrase("{device} sent you {item}", ["device": sender, "item": items.map(\.label)])
        }
        return items.allSatisfy(\.isFile)
            ? .plural(
                "{device} sent you {count} file", "{device} sent you {count} files", items.count, ["device": sender])
            : .plural(
                "{device} sent you {count} item", "{device} sent you {count} items", items.count, ["device": sender])
    }

    private static func acceptance(of items: [NotificationOffer]) -> Phrase {
        let isOne = items.count == 1
        if items.allSatisfy(\.isFile) { return isOne ? .phrase("Save") : .phrase("Save All") }
        if items.allSatisfy(\.isText) { return isOne ? .phrase("Copy") : .phrase("Copy All") }
        if items.contains(where: { $0.isFile || $0.isText }) {
            return isOne ? .phrase("Accept") : .phrase("Accept All")
        }
        return isOne ? .phrase("Open") : .phrase("Open All")
    }

    private static func saved(_ files: [SavedFile]) -> Phrase {
        let folder = files.first?.folder
        let isTogether = files.allSatisfy { $0.folder == folder }
        let place = isTogether ? folder.flatMap { NotificationText.line(String($0)) } : nil
        let name = files.prefix(1).map(\.name)
        guard let place else {
            return files.count == 1
                ? .phrase("{file} saved", ["file": name])
                : .plural("{count} file saved", "{count} files saved", files.count)
        }
        let destination = [Phrase.Text.verbatim(place)]
        return files.count == 1
            ? .phrase("{file} saved to {folder}", ["file": name, "folder": destination])
            : .plural(
                "{count} file saved to {folder}", "{count} files saved to {folder}", files.count,
                ["folder": destination])
    }

    /// Lists every app that would open these items, each once, so that no unnamed app opens them.
    private static func openers(_ items: [NotificationOffer]) -> [Phrase] {
        func names(_ offers: [NotificationOffer]) -> [Phrase.Text]? {
            var names: [Phrase.Text] = []
            for offer in offers where !names.contains(offer.opener) { names.append(offer.opener) }
            return names.isEmpty ? nil : names
        }
        let isOne = items.count == 1
        let phrases: [Phrase?] = [
            names(items.filter(\.isFile)).map {
                isOne ? .phrase("goes to: {apps}", ["apps": $0]) : .phrase("go to: {apps}", ["apps": $0])
            },
            names(items.filter { !$0.isFile }).map {
                isOne ? .phrase("opens in: {apps}", ["apps": $0]) : .phrase("open in: {apps}", ["apps": $0])
            },
        ]
        return phrases.compactMap(\.self)
    }

    /// Returns the notification that this device is no longer a member of its account, with the
    /// remedy.
    ///
    /// - Parameter problem: A lower-case sentence fragment from this program.
    static func exclusion(_ problem: String, _ capabilities: NotificationCapabilities) -> DesktopNotification {
        var notification = notification(
            NotificationReason.phrase(problem),
            [.phrase("To rejoin, use a code from a device in the account: open Handoff, or run handoffctl join")],
            icon: "dialog-warning", choices: [], capabilities)
        notification.urgency = 1
        return notification
    }

    private static func notification(
        _ headline: Phrase, _ details: [Phrase], icon: String, choices: [DesktopNotification.Choice],
        _ capabilities: NotificationCapabilities
    ) -> DesktopNotification {
        DesktopNotification(
            headline: capabilities.hasBody ? [headline] : [headline] + details,
            details: capabilities.hasBody ? details : [], hasMarkup: capabilities.hasMarkup, icon: icon,
            choices: capabilities.hasActions ? choices : [])
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
