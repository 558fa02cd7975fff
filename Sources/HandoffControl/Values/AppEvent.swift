package import HandoffJSON
package import HandoffModel

/// The parameters of `Attach`.
package struct AttachRequest: ControlRequest {
    /// What the app calls itself.
    package var app: String
    /// The activity types that it continues.
    package var types: [ActivityType]
    /// Its version.
    package var version: String?
    /// Its team.
    package var team: String?
    /// From which versions it continues them.
    package var versions: [TypeVersions]?

    /// An app with these properties.
    package init(
        app: String, version: String? = nil, team: String? = nil, types: [ActivityType] = [],
        versions: [TypeVersions]? = nil
    ) {
        self.app = app
        self.version = version
        self.team = team
        self.types = types
        self.versions = versions
    }

    /// Whether another request is of the same app, whatever types that declares.
    package func isSameApp(as other: AttachRequest) -> Bool {
        var other = other
        other.types = types
        other.versions = versions
        return other == self
    }

    /// The app has a name, and no text is too long.
    package func check() throws(VarlinkError) {
        guard (1...Limits.appName).contains(app.utf8.count) else { throw .invalidParameter("app") }
        guard version?.utf8.count ?? 0 <= Limits.appName else { throw .invalidParameter("version") }
        guard team?.utf8.count ?? 0 <= Limits.team else { throw .invalidParameter("team") }
    }
}

/// The parameters of `Declare`.
package struct DeclareRequest: ControlRequest {
    /// The app's attachment.
    package var session: String
    /// The activity types that it continues from now on.
    package var types: [ActivityType]
    /// From which versions it continues them.
    package var versions: [TypeVersions]?

    /// A declaration of these types.
    package init(session: String, types: [ActivityType], versions: [TypeVersions]? = nil) {
        self.session = session
        self.types = types
        self.versions = versions
    }
}

/// `Event`: what an attached app, or the publisher of one activity, is told.
package enum AppEvent: ControlMessage {
    /// The app is attached; its other calls name this session.
    case attached(session: String)
    /// The activity exists; advice is what a developer should know.
    case published(ActivityID, advice: String?)
    /// Save now, and answer with `AnswerSave`.
    case save(ActivityID)
    /// The state that was saved has been sent to another device.
    case saved(ActivityID)
    /// An activity of this type is on its way; `continue` or `didFail` follows.
    case willContinue(ContinuationID, ActivityType, Origin)
    /// The activity has arrived; answer with `AnswerContinue`.
    case `continue`(ContinuationID, ContinuedActivity)
    /// The activity that was on its way does not come.
    case didFail(ContinuationID, ActivityType, HandoffFailure)
    /// Another device continues the activity.
    case continued(ActivityID, by: Origin)
    /// The user of the device that the activity was sent to does not want it.
    case declined(ActivityID, by: Origin)
    /// The device that continued the activity asks for a stream; take it with `OpenStream` within 30 seconds. With a resource
    /// it is for that alone, and an app that does not know it leaves the stream.
    case stream(ActivityID, StreamID, from: Origin, resource: StreamResource? = nil)
    /// The activity expired, or was replaced.
    case withdrawn(ActivityID)

    /// Reads the results of `Attach` or `Publish`; throws `invalidParameter`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        switch try fields.text("event") {
        case "attached": self = .attached(session: try fields.value("session"))
        case "published": self = .published(try fields.value("activity"), advice: try fields.optional("advice"))
        case "save": self = .save(try fields.value("activity"))
        case "saved": self = .saved(try fields.value("activity"))
        case "willContinue":
            self = .willContinue(
                try fields.value("continuation"), try fields.value("type"), try fields.value("origin"))
        case "continue":
            self = .continue(try fields.value("continuation"), try fields.value("content"))
        case "didFail":
            self = .didFail(
                try fields.value("continuation"), try fields.value("type"), try fields.value("failure"))
        case "continued":
            self = .continued(try fields.value("activity"), by: try fields.value("origin"))
        case "declined":
            self = .declined(try fields.value("activity"), by: try fields.value("origin"))
        case "stream":
            self = .stream(
                try fields.value("activity"), try fields.value("stream"), from: try fields.value("origin"),
                resource: try fields.optional("resource"))
        case "withdrawn": self = .withdrawn(try fields.value("activity"))
        default: throw fields.invalid("event")
        }
    }

    /// The results on the socket: the name in `event`, and the fields of this event alone.
    package var json: JSONObject {
        switch self {
        case .attached(let session): Self.written("attached", ["session": .string(session)])
        case .published(let activity, let advice):
            Self.written("published", ["activity": activity.json, "advice": advice?.json])
        case .save(let activity): Self.written("save", ["activity": activity.json])
        case .saved(let activity): Self.written("saved", ["activity": activity.json])
        case .willContinue(let continuation, let type, let origin):
            Self.written(
                "willContinue", ["continuation": continuation.json, "type": type.json, "origin": origin.field])
        case .continue(let continuation, let content):
            Self.written("continue", ["continuation": continuation.json, "content": content.field])
        case .didFail(let continuation, let type, let failure):
            Self.written(
                "didFail", ["continuation": continuation.json, "type": type.json, "failure": failure.field])
        case .continued(let activity, let origin):
            Self.written("continued", ["activity": activity.json, "origin": origin.field])
        case .declined(let activity, let origin):
            Self.written("declined", ["activity": activity.json, "origin": origin.field])
        case .stream(let activity, let stream, let origin, let resource):
            Self.written(
                "stream",
                [
                    "resource": resource?.json, "activity": activity.json, "stream": stream.json,
                    "origin": origin.field,
                ])
        case .withdrawn(let activity): Self.written("withdrawn", ["activity": activity.json])
        }
    }

    private static func written(_ name: String, _ fields: KeyValuePairs<String, JSON?>) -> JSONObject {
        .event(name, fields, absent: .leftOut)
    }
}
