package import HandoffControl
package import HandoffJSON

extension LoginSession {
    /// The fields of a `Session`.
    package var json: JSONObject {
        [
            "id": .string(id), "class": .string(sessionClass), "type": .string(type), "state": .string(state),
            "locked": .bool(isLocked), "idle": .bool(isIdle), "idleSince": .integer(Int64(clamping: idleSince)),
        ]
    }

    /// Reads the fields; throws `invalidParameter`.
    package init(_ fields: Fields) throws(VarlinkError) {
        guard let idleSince = UInt64(exactly: try fields.integer("idleSince")) else {
            throw fields.invalid("idleSince")
        }
        self.init(
            id: try fields.text("id"), sessionClass: try fields.text("class"), type: try fields.text("type"),
            state: try fields.text("state"), isLocked: try fields.flag("locked"), isIdle: try fields.flag("idle"),
            idleSince: idleSince)
    }
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
    package init(_ object: JSONObject) throws(VarlinkError) {
        let fields = Fields(object)
        switch Kind(rawValue: try fields.text("report")) {
        case .sessions:
            var sessions: [LoginSession] = []
            for session in try fields.list("sessions") { sessions.append(try LoginSession(session)) }
            self = .sessions(sessions)
        case .absent: self = .absent
        case .silent: self = .silent
        case nil: throw fields.invalid("report")
        }
    }
}
