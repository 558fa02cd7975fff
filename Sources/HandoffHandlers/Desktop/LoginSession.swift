package import HandoffControl
package import HandoffJSON

/// The known sessions of a user.
package enum LoginReport: ControlMessage {
    /// All sessions of the user.
    case sessions([LoginSession])
    /// There is no system bus, or logind is not on it.
    case absent
    /// No reply; the last known sessions may be outdated.
    case silent
}

/// One session of a user, as systemd-logind describes it (org.freedesktop.login1(5)).
package struct LoginSession: ControlValue {
    /// The session's id, such as `2` or `c1`.
    package var id: String
    /// The session's class: `user`, `greeter`, `lock-screen`, `background`, `manager` and others.
    package var sessionClass: String
    /// The display type: `x11`, `wayland`, `mir`, `tty`, `unspecified` and others.
    package var type: String
    /// `online`, `active`, or `closing` when only leftover processes run.
    package var state: String
    /// True if the desktop reports a locked screen.
    package var isLocked: Bool
    /// True if the desktop reports that the session is idle.
    package var isIdle: Bool
    /// The time of the last change of `isIdle`, in seconds since 1970; 0 if unknown.
    package var idleSince: UInt64

    private enum CodingKeys: String, CodingKey {
        case id
        case sessionClass = "class"
        case type, state
        case isLocked = "locked"
        case isIdle = "idle"
        case idleSince
    }

    package init(
        id: String, sessionClass: String = "user", type: String, state: String = "active", isLocked: Bool = false,
        isIdle: Bool = false, idleSince: UInt64 = 0
    ) {
        self.id = id
        self.sessionClass = sessionClass
        self.type = type
        self.state = state
        self.isLocked = isLocked
        self.isIdle = isIdle
        self.idleSince = idleSince
    }

    /// True for a user's desktop session. Other sessions, such as those over SSH, are never locked
    /// or idle.
    package var isGraphical: Bool {
        ["x11", "wayland", "mir"].contains(type) && isOfPerson
    }

    /// True if a user has logged in, in any way, and not logged out.
    package var isOfPerson: Bool { sessionClass.hasPrefix("user") && state != "closing" }
}

extension LoginReport {
    private enum Kind: String {
        case sessions, absent, silent
    }

    /// The fields of a reply to `FollowSessions`.
    package var json: JSONObject {
        let (kind, sessions): (Kind, [LoginSession]) =
            switch self {
            case .sessions(let sessions): (.sessions, sessions)
            case .absent: (.absent, [])
            case .silent: (.silent, [])
            }
        return ["report": .string(kind.rawValue), "sessions": .array(sessions.map { .object($0.json) })]
    }

    /// Reads the fields of such a reply; throws `invalidParameter`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        switch Kind(rawValue: try fields.text("report")) {
        case .sessions: self = .sessions(try fields.value("sessions"))
        case .absent: self = .absent
        case .silent: self = .silent
        case nil: throw fields.invalid("report")
        }
    }
}
