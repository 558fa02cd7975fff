package import HandoffJSON
package import HandoffModel

/// The parameters of `Continue`: the start of an id, or conditions for the latest activity.
package struct ContinueRequest: ControlRequest {
    /// The start of the activity's id, in hexadecimal.
    package var activity: String?
    /// The type that it must have.
    package var type: String?
    /// The device that it must be from: the start of its id, or its name.
    package var from: String?
    /// True if the caller is the handler and receives the payload. Default: false.
    package var take: Bool?
    /// The timeout in seconds.
    package var timeout: Double?
    /// The id of the app that opens it; nil for the usual one.
    package var app: String?
    /// True to open its web page in the browser, although an app continues it. Default: false.
    package var web: Bool?
    /// True to continue it although a newer state is known. Default: false.
    package var older: Bool?
    /// True if `activity` is one of this device, whose newer state on another one is continued.
    /// Default: false.
    package var back: Bool?

    /// Creates a request, by default for the latest activity.
    package init(
        activity: String? = nil, type: String? = nil, from: String? = nil, take: Bool? = nil, timeout: Double? = nil,
        app: String? = nil, web: Bool? = nil, older: Bool? = nil, back: Bool? = nil
    ) {
        self.activity = activity
        self.type = type
        self.from = from
        self.take = take
        self.timeout = timeout
        self.app = app
        self.web = web
        self.older = older
        self.back = back
    }

    /// Checks that the timeout is positive, and that at most one recipient is given.
    package func check() throws(VarlinkError) {
        if let timeout, !(timeout > 0 && timeout.isFinite) { throw .invalidParameter("timeout") }
        if web == true, take == true || app != nil { throw .invalidParameter("web") }
        if back == true, type != nil || from != nil { throw .invalidParameter("back") }
        if app != nil, take == true { throw .invalidParameter("app") }
    }
}

/// The results of `Continue`.
package enum ContinueEvent: ControlMessage {
    /// An activity of this type is being transferred.
    case willContinue(ActivityType)
    /// The activity was continued: by the caller if it requested this, otherwise by the handler
    /// that opened it. A caller that continued it opens streams with the continuation.
    /// `missing`: the folders and checkouts that this device lacks; nil with a caller that continued
    /// it.
    case continued(
        ActivityType, ContinuedActivity?, ControlOpens?, continuation: ContinuationID?,
        missing: [ControlMissing]? = nil)

    /// Decodes the results. Throws `invalidParameter` or `unknownEvent`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        let event = try fields.text("event")
        switch event {
        case "willContinue": self = .willContinue(try fields.value("type"))
        case "continued":
            self = .continued(
                try fields.value("type"), try fields.optional("activity"), try fields.optional("opens"),
                continuation: try fields.optional("continuation"), missing: try fields.optional("missing"))
        default: throw .unknownEvent(event)
        }
    }

    /// The results on the socket.
    package var json: JSONObject {
        switch self {
        case .willContinue(let type):
            .event(
                "willContinue", ["type": type.json, "activity": nil, "opens": nil, "continuation": nil, "missing": nil])
        case .continued(let type, let activity, let opens, let continuation, let missing):
            .event(
                "continued",
                [
                    "type": type.json, "activity": activity?.field, "opens": opens?.field,
                    "continuation": continuation?.json, "missing": missing.map { .array($0.map(\.field)) },
                ])
        }
    }
}

/// `ContinuedActivity`: an activity that was continued here, with its payload.
package struct ContinuedActivity: DirectControlValue {
    /// The activity's id on the other device.
    package var id: ActivityID
    /// The activity type.
    package var type: ActivityType
    /// A description of what the user was doing.
    package var title: String?
    /// The state that the app needs to continue, in the tagged form.
    package var userInfo: JSONObject
    /// A web page that continues it if no app does.
    package var webpageURL: String?
    /// The team of the app that it is from.
    package var team: String?
    /// The keys required to continue the activity.
    package var requiredUserInfoKeys: [String]
    /// The identifier of its content.
    package var targetContentIdentifier: String?
    /// True if continuation streams may be requested.
    package var streams: Bool
    /// The device and the app that it is from.
    package var origin: Origin
    /// The state of that device, if this is the copy of an activity that it had on offer; nil if the
    /// device itself has sent it.
    package var kept: ControlKept?
    /// The lineage of an activity with which the app continues this one; nil from an older daemon.
    package var lineage: Lineage?
    /// True if the app there edits the content exclusively; nil from an older daemon.
    package var exclusive: Bool?

    /// Converts a payload from another device for the app that continues it.
    package init(id: ActivityID, content: ActivityContent, origin: Origin, kept: ControlKept? = nil) {
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
        self.kept = kept
        lineage = (content.lineage ?? Lineage(id: id, step: 0)).next
        exclusive = content.isExclusive
    }

    /// The fields, in the order of the properties. The device is repeated before `origin`, for tools
    /// that do not read nested objects; decoding ignores these fields.
    package var json: JSONObject {
        JSONObject(distinct: [
            ("id", id.json), ("type", type.json), ("title", title?.json ?? .null), ("userInfo", .object(userInfo)),
            ("webpageURL", webpageURL?.json ?? .null), ("team", team?.json ?? .null),
            ("requiredUserInfoKeys", .array(requiredUserInfoKeys.map(JSON.string))),
            ("targetContentIdentifier", targetContentIdentifier?.json ?? .null), ("streams", .bool(streams)),
            ("device", origin.device.json), ("deviceName", .string(origin.deviceName)),
            ("deviceKind", .string(origin.deviceKind.name)), ("origin", origin.field), ("kept", kept?.field ?? .null),
            ("lineage", lineage?.field ?? .null), ("exclusive", exclusive.map(JSON.bool) ?? .null),
        ])
    }
}

extension Origin: DirectControlValue {
    /// The fields, in the order of the properties.
    package var json: JSONObject {
        JSONObject(distinct: [
            ("device", device.json), ("deviceName", .string(deviceName)), ("deviceKind", .string(deviceKind.name)),
            ("app", app?.json ?? .null), ("appVersion", appVersion?.json ?? .null),
        ])
    }
}
