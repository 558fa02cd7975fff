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

    /// The fields of a reply to `FollowSessions`; nil when nobody can say.
    package static func json(_ sessions: [LoginSession]?) -> JSONObject {
        ["sessions": sessions.map { .array($0.map { .object($0.json) }) } ?? .null]
    }

    /// Reads the fields of such a reply; throws `invalidParameter`.
    package static func list(_ fields: JSONObject) throws(VarlinkError) -> [LoginSession]? {
        guard let value = fields["sessions"], !value.isNull else { return nil }
        var sessions: [LoginSession] = []
        for session in try Fields(fields).list("sessions") { sessions.append(try LoginSession(session)) }
        return sessions
    }
}
