package import HandoffControl
package import HandoffJSON

/// What is known of a user's sessions.
package enum LoginReport: ControlMessage {
    /// All that there are.
    case sessions([LoginSession])
    /// There is no logind: no system bus, or nobody on it who has that name.
    case absent
    /// Nobody has answered, and what was known may be so no more.
    case silent
}

/// One session of a user, as systemd-logind describes it (org.freedesktop.login1(5)).
package struct LoginSession: ControlValue {
    /// The session's id, such as `2` or `c1`.
    package var id: String
    /// What kind of session it is: `user`, `greeter`, `lock-screen`, `background`, `manager` and others.
    package var sessionClass: String
    /// How it is shown: `x11`, `wayland`, `mir`, `tty`, `unspecified` and others.
    package var type: String
    /// `online`, `active`, or `closing` while only leftovers of it run.
    package var state: String
    /// Whether the desktop says that its screen is locked.
    package var isLocked: Bool
    /// Whether the desktop says that nobody uses it.
    package var isIdle: Bool
    /// Since when `isIdle` is what it is, in seconds since 1970; 0 when nobody knows.
    package var idleSince: UInt64

    private enum CodingKeys: String, CodingKey {
        case id
        case sessionClass = "class"
        case type, state
        case isLocked = "locked"
        case isIdle = "idle"
        case idleSince
    }

    /// A session with these properties.
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

    /// Whether a person sits, or sat, before a desktop here. Others, such as those over SSH, are neither locked nor idle.
    package var isGraphical: Bool {
        ["x11", "wayland", "mir"].contains(type) && isOfPerson
    }

    /// Whether a person has logged in here, in whatever way, and not out.
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
