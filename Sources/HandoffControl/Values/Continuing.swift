package import HandoffJSON
package import HandoffModel

/// The parameters of `Continue`: by the beginning of an id, or the latest that fits.
package struct ContinueRequest: ControlRequest {
    /// The beginning of the activity's id, in hexadecimal.
    package var activity: String?
    /// The type that it must have.
    package var type: String?
    /// The device that it must come from: the beginning of its id, or its name.
    package var from: String?
    /// Whether the caller is the handler and gets the payload; false by default.
    package var take: Bool?
    /// How long it may take, in seconds.
    package var timeout: Double?

    /// A request for the latest activity.
    package init(
        activity: String? = nil, type: String? = nil, from: String? = nil, take: Bool? = nil, timeout: Double? = nil
    ) {
        self.activity = activity
        self.type = type
        self.from = from
        self.take = take
        self.timeout = timeout
    }

    /// The time is above zero.
    package func check() throws(VarlinkError) {
        if let timeout, !(timeout > 0 && timeout.isFinite) { throw .invalidParameter("timeout") }
    }
}

/// The results of `Continue`.
package enum ContinueEvent: ControlMessage {
    /// An activity of this type is on its way.
    case willContinue(ActivityType)
    /// The activity was continued: by the caller if it asked to take it, otherwise by what opened it. A caller that took it
    /// opens streams by the continuation.
    case continued(ActivityType, ContinuedActivity?, ControlOpens?, continuation: ContinuationID?)

    /// Reads the results; throws `invalidParameter`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        switch try fields.text("event") {
        case "willContinue": self = .willContinue(try fields.value("type"))
        case "continued":
            self = .continued(
                try fields.value("type"), try fields.optional("activity"), try fields.optional("opens"),
                continuation: try fields.optional("continuation"))
        default: throw fields.invalid("event")
        }
    }

    /// The results on the socket.
    package var json: JSONObject {
        switch self {
        case .willContinue(let type):
            .event("willContinue", ["type": type.json, "activity": nil, "opens": nil, "continuation": nil])
        case .continued(let type, let activity, let opens, let continuation):
            .event(
                "continued",
                [
                    "type": type.json, "activity": activity?.field, "opens": opens?.field,
                    "continuation": continuation?.json,
                ])
        }
    }
}

/// `ContinuedActivity`: an activity that was continued here, with its payload.
package struct ContinuedActivity: ControlValue {
    /// The activity's id on the other device.
    package var id: ActivityID
    /// What kind of activity it is.
    package var type: ActivityType
    /// What the user was doing.
    package var title: String?
    /// What the app needs to continue, in the tagged form.
    package var userInfo: JSONObject
    /// A web page that continues it where no app does.
    package var webpageURL: String?
    /// The team of the app that it came from.
    package var team: String?
    /// The keys without which it cannot be continued.
    package var requiredUserInfoKeys: [String]
    /// Which content it is about.
    package var targetContentIdentifier: String?
    /// Whether continuation streams can be asked for.
    package var streams: Bool
    /// The device and the app that it came from.
    package var origin: Origin

    /// What a payload from another device becomes for the app that continues it.
    package init(id: ActivityID, content: ActivityContent, origin: Origin) {
        self.id = id
        type = content.type
        title = content.title
        userInfo = content.userInfo
        webpageURL = content.webpageURL
        team = content.team
        requiredUserInfoKeys = content.requiredUserInfoKeys
        targetContentIdentifier = content.targetContentIdentifier
        streams = content.supportsStreams
        self.origin = origin
    }

    /// The fields as `JSONObject(encoding:absent:)` has them, in a tenth of the time. The device is written once more before
    /// `origin`, for tools that look no deeper; it is not read there.
    package var json: JSONObject {
        JSONObject(distinct: [
            ("id", id.json), ("type", type.json), ("title", title?.json ?? .null), ("userInfo", .object(userInfo)),
            ("webpageURL", webpageURL?.json ?? .null), ("team", team?.json ?? .null),
            ("requiredUserInfoKeys", .array(requiredUserInfoKeys.map(JSON.string))),
            ("targetContentIdentifier", targetContentIdentifier?.json ?? .null), ("streams", .bool(streams)),
            ("device", origin.device.json), ("deviceName", .string(origin.deviceName)),
            ("deviceKind", .string(origin.deviceKind.name)), ("origin", origin.field),
        ])
    }
}

extension Origin: ControlValue {
    /// The fields as `JSONObject(encoding:absent:)` has them; see ``ContinuedActivity/json``.
    package var json: JSONObject {
        JSONObject(distinct: [
            ("device", device.json), ("deviceName", .string(deviceName)), ("deviceKind", .string(deviceKind.name)),
            ("app", app?.json ?? .null), ("appVersion", appVersion?.json ?? .null),
        ])
    }
}
