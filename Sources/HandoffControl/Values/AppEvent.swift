package import HandoffJSON
package import HandoffModel

/// The parameters of `Attach`.
package struct AttachRequest: ControlRequest {
    /// The id that the app claims.
    package var app: String
    /// The activity types that it continues.
    package var types: [ActivityType]
    /// Its version.
    package var version: String?
    /// Its team.
    package var team: String?
    /// The versions from which it continues the types.
    package var versions: [TypeVersions]?

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

    /// Returns whether another request is from the same app, whatever types that declares.
    package func isSameApp(as other: AttachRequest) -> Bool {
        var other = other
        other.types = types
        other.versions = versions
        return other == self
    }

    /// Checks that the app has a name and that no text is too long.
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
    /// The versions from which it continues the types.
    package var versions: [TypeVersions]?

    package init(session: String, types: [ActivityType], versions: [TypeVersions]? = nil) {
        self.session = session
        self.types = types
        self.versions = versions
    }
}

/// `Event`: an event sent to an attached app, or to the publisher of one activity.
package enum AppEvent: ControlMessage {
    /// The app is attached. Its other calls must contain this session.
    case attached(session: String)
    /// The activity exists. Advice is a hint for the developer.
    case published(ActivityID, advice: String?)
    /// Save now, and answer with `AnswerSave`. `isForUser`: a device waits for the state; otherwise the
    /// save is in the background.
    case save(ActivityID, isForUser: Bool = false)
    /// The saved state has been sent to another device.
    case saved(ActivityID)
    /// An activity of this type is being transferred. `continue` or `didFail` follows.
    case willContinue(ContinuationID, ActivityType, Origin)
    /// The activity has arrived; answer with `AnswerContinue`.
    case `continue`(ContinuationID, ContinuedActivity)
    /// The announced activity could not be transferred.
    case didFail(ContinuationID, ActivityType, HandoffFailure)
    /// Another device continues the activity. `at` is the time in seconds since 1970 at which it did so
    /// while this device was offline; nil for now.
    case continued(ActivityID, by: Origin, at: Double? = nil)
    /// The user of the device that the activity was sent to declined it.
    case declined(ActivityID, by: Origin)
    /// The device that continued the activity requests a stream. Accept it with `OpenStream` within
    /// 30 seconds. With a resource the stream is for that only, and an app that does not know it
    /// ignores the stream.
    case stream(ActivityID, StreamID, from: Origin, resource: StreamResource? = nil)
    /// The activity expired or was replaced.
    case withdrawn(ActivityID)

    /// Decodes the results of `Attach` or `Publish`. Throws `invalidParameter` or `unknownEvent`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        let event = try fields.text("event")
        switch event {
        case "attached": self = .attached(session: try fields.value("session"))
        case "published": self = .published(try fields.value("activity"), advice: try fields.optional("advice"))
        case "save": self = .save(try fields.value("activity"), isForUser: try fields.isSet("forUser"))
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
            self = .continued(
                try fields.value("activity"), by: try fields.value("origin"), at: try fields.optional("at"))
        case "declined":
            self = .declined(try fields.value("activity"), by: try fields.value("origin"))
        case "stream":
            self = .stream(
                try fields.value("activity"), try fields.value("stream"), from: try fields.value("origin"),
                resource: try fields.optional("resource"))
        case "withdrawn": self = .withdrawn(try fields.value("activity"))
        default: throw .unknownEvent(event)
        }
    }

    /// The results on the socket: the name in `event`, and only the fields of this event.
    package var json: JSONObject {
        switch self {
        case .attached(let session): Self.written("attached", ["session": .string(session)])
        case .published(let activity, let advice):
            Self.written("published", ["activity": activity.json, "advice": advice?.json])
        case .save(let activity, let isForUser):
            Self.written("save", ["activity": activity.json, "forUser": isForUser ? true : nil])
        case .saved(let activity): Self.written("saved", ["activity": activity.json])
        case .willContinue(let continuation, let type, let origin):
            Self.written(
                "willContinue", ["continuation": continuation.json, "type": type.json, "origin": origin.field])
        case .continue(let continuation, let content):
            Self.written("continue", ["continuation": continuation.json, "content": content.field])
        case .didFail(let continuation, let type, let failure):
            Self.written(
                "didFail", ["continuation": continuation.json, "type": type.json, "failure": failure.field])
        case .continued(let activity, let origin, let time):
            Self.written(
                "continued", ["activity": activity.json, "origin": origin.field, "at": time.map { .real($0) }])
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
        .event(name, fields, absent: .omitted)
    }
}
