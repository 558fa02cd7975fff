package import HandoffControl
package import HandoffJSON

/// The capabilities that the desktop service adds to those of the notification server.
package enum NotificationCapability {
    /// The program for `SaveItems` is installed.
    package static let savesItems = "x-handoff-save-as"
}

/// An event from the desktop's notification server or the bus.
package enum NotificationEvent: ControlMessage {
    /// A server may be available, because the bus is connected or a server has started. It does not
    /// know earlier notifications.
    case appeared
    /// The server or the bus has gone, and with it the notifications.
    case gone
    /// A notification is no longer on the screen. Reason 1: it expired; 2: the user closed it; 3:
    /// it was withdrawn.
    case closed(UInt32, reason: UInt32)
    /// An activation token for the user's choice. Sent before `chosen`, by some servers only.
    case token(UInt32, String)
    /// The user has chosen an action.
    case chosen(UInt32, key: String)
}

extension NotificationEvent {
    /// The maximum length of a text on the socket, in bytes.
    static let maxText = 4096

    /// The fields of a reply to `FollowNotifications`.
    package var json: JSONObject {
        switch self {
        case .appeared: ["event": "appeared"]
        case .gone: ["event": "gone"]
        case .closed(let id, let reason):
            ["event": "closed", "id": .integer(Int64(id)), "reason": .integer(Int64(reason))]
        case .token(let id, let text): ["event": "token", "id": .integer(Int64(id)), "text": .string(text)]
        case .chosen(let id, let key): ["event": "chosen", "id": .integer(Int64(id)), "text": .string(key)]
        }
    }

    /// True if the event may be sent over the socket. Texts from the server are untrusted.
    package var isAcceptable: Bool {
        switch self {
        case .appeared, .gone, .closed: true
        case .token(_, let text), .chosen(_, let text): text.utf8.count <= Self.maxText
        }
    }

    /// Reads the fields; throws `invalidParameter`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        switch try fields.text("event") {
        case "appeared": self = .appeared
        case "gone": self = .gone
        case "closed": self = .closed(try fields.value("id"), reason: try fields.value("reason"))
        case "token": self = .token(try fields.value("id"), try fields.value("text"))
        case "chosen": self = .chosen(try fields.value("id"), key: try fields.value("text"))
        default: throw fields.invalid("event")
        }
        guard isAcceptable else { throw fields.invalid("text") }
    }
}
