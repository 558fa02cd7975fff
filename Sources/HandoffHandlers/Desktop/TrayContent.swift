package import HandoffControl
package import HandoffJSON
package import HandoffModel

/// The content of the tray icon: the parameters of `ShowTray`. Plain values.
package struct TrayContent: ControlValue {
    /// An offer that the user can choose.
    package struct Offer: ControlValue {
        package var device: DeviceID
        package var activity: ActivityID
        /// One line of plain text.
        package var label: Phrase
        /// The state of the device, if it cannot be reached; nil from an older daemon.
        package var notes: [Phrase]?
        /// The name of an icon in the desktop's theme.
        package var icon: String?

        package init(device: DeviceID, activity: ActivityID, label: Phrase, notes: [Phrase] = [], icon: String?) {
            self.device = device
            self.activity = activity
            self.label = label
            self.notes = notes
            self.icon = icon
        }

        /// The label and the notes in a language.
        package func text(_ translate: Phrase.Translation = Phrase.english) -> String {
            ([label] + (notes ?? [])).map { $0.text(translate) }.joined(separator: " · ")
        }
    }

    /// The maximum number of offers in the menu.
    package static let maxOffers = 20
    /// The maximum number of recent activities in the menu.
    package static let maxRecent = 5
    /// The maximum number of notes of an offer.
    private static let maxNotes = 4
    /// The maximum length of a label, and of an icon's name, in bytes. The daemon shortens texts
    /// far below these limits.
    private static let maxLabel = 4096
    private static let maxIcon = 256

    /// The newest offers, newest first.
    package var offers: [Offer]
    /// The number of further offers.
    package var omitted: UInt32
    /// Activities that are no longer on offer and can be reopened; nil from an older daemon.
    package var recent: [Offer]?
    /// True if the user has paused, false if the user can pause. Nil if the user can do neither,
    /// because something else has switched both directions off.
    package var paused: Bool?

    package init(offers: [Offer] = [], omitted: UInt32 = 0, recent: [Offer] = [], paused: Bool? = false) {
        self.offers = offers
        self.omitted = omitted
        self.recent = recent
        self.paused = paused
    }

    /// Checks the number of offers, and the length of the texts.
    package func check() throws(VarlinkError) {
        let recent = recent ?? []
        guard offers.count <= Self.maxOffers, recent.count <= Self.maxRecent else { throw .invalidParameter("offers") }
        for offer in offers + recent {
            let notes = offer.notes ?? []
            guard notes.count <= Self.maxNotes, ([offer.label] + notes).allSatisfy(\.isBounded) else {
                throw .invalidParameter("offers")
            }
            let label = offer.text()
            guard label.utf8.count <= Self.maxLabel, !label.utf8.contains(0),
                (offer.icon?.utf8.count ?? 0) <= Self.maxIcon, offer.icon?.utf8.contains(0) != true
            else { throw .invalidParameter("offers") }
        }
    }
}

/// An event of the tray.
package enum TrayEvent: ControlMessage {
    /// A panel shows the icon. It may be a new one.
    case appeared
    /// No panel shows the icon.
    case gone
    /// The user has chosen an offer in the menu.
    case chosen(DeviceID, ActivityID, token: ActivationToken?)
    /// The user has chosen to pause (true) or to resume.
    case paused(Bool)

    /// The fields of a reply to `FollowTray`.
    package var json: JSONObject {
        switch self {
        case .appeared: ["event": "appeared"]
        case .gone: ["event": "gone"]
        case .chosen(let device, let activity, let token):
            [
                "event": "chosen", "device": .string(device.hex), "activity": .string(activity.hex),
                "token": token.map { .string($0.text) } ?? .null,
            ]
        case .paused(let isPaused): ["event": isPaused ? "pause" : "resume"]
        }
    }

    /// Reads the fields; throws `invalidParameter`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        switch try fields.text("event") {
        case "appeared": self = .appeared
        case "gone": self = .gone
        case "chosen":
            self = .chosen(
                try fields.value("device"), try fields.value("activity"),
                token: try fields.optionalText("token").flatMap { ActivationToken($0) })
        case "pause": self = .paused(true)
        case "resume": self = .paused(false)
        default: throw fields.invalid("event")
        }
    }
}
