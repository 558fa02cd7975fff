package import HandoffControl
package import HandoffJSON

/// What the desktop's notification server, or the bus, says.
package enum NotificationEvent: ControlMessage {
    /// There may be a server now: the bus is there, or a server has come. It knows nothing of former notifications.
    case appeared
    /// The server is gone, or the bus, and with it what was shown.
    case gone
    /// A notification is on the screen no more. 1: its time was over; 2: the user closed it; 3: it was withdrawn.
    case closed(UInt32, reason: UInt32)
    /// What proves to the desktop that the user asked for a window; comes before `chosen`, from some servers only.
    case token(UInt32, String)
    /// The user has chosen something.
    case chosen(UInt32, key: String)
}

extension NotificationEvent {
    /// The longest text that crosses the socket, in bytes.
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

    /// Whether it may cross the socket: what a server says is from outside.
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
