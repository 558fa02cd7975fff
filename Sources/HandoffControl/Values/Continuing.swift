package import HandoffJSON
package import HandoffModel

/// The parameters of `Continue`: by the beginning of an id, or the latest that fits.
package struct ContinueRequest: Sendable, Equatable {
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

    /// Reads the parameters; throws `invalidParameter`, also for a time that is not above zero.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        self.init(
            activity: try fields.optionalText("activity"), type: try fields.optionalText("type"),
            from: try fields.optionalText("from"), take: try fields.optionalFlag("take"),
            timeout: try fields.optionalNumber("timeout"))
        if let timeout, !(timeout > 0 && timeout.isFinite) { throw fields.invalid("timeout") }
    }

    /// The parameters on the socket; what is absent is left out.
    package var json: JSONObject {
        var json: JSONObject = [:]
        json["activity"] = activity.map(JSON.string)
        json["type"] = type.map(JSON.string)
        json["from"] = from.map(JSON.string)
        json["take"] = take.map(JSON.bool)
        json["timeout"] = timeout.map(JSON.real)
        return json
    }
}

/// The results of `Continue`.
package enum ContinueEvent: Sendable, Equatable {
    /// An activity of this type is on its way.
    case willContinue(ActivityType)
    /// The activity was continued: by the caller if it asked to take it, otherwise by what opened it. A caller that took it
    /// opens streams by the continuation.
    case continued(ActivityType, ContinuedActivity?, ControlOpens?, continuation: ContinuationID?)

    /// Reads the results; throws `invalidParameter`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        switch try fields.text("event") {
        case "willContinue": self = .willContinue(try fields.type("type"))
        case "continued":
            var activity: ContinuedActivity?
            if let inner = try fields.optionalFields("activity") { activity = try ContinuedActivity(inner) }
            var opens: ControlOpens?
            if let inner = try fields.optionalFields("opens") { opens = try ControlOpens(inner) }
            self = .continued(
                try fields.type("type"), activity, opens, continuation: try fields.optionalID("continuation"))
        default: throw fields.invalid("event")
        }
    }

    /// The results on the socket.
    package var json: JSONObject {
        switch self {
        case .willContinue(let type):
            [
                "event": "willContinue", "type": .string(type.text), "activity": nil, "opens": nil,
                "continuation": nil,
            ]
        case .continued(let type, let activity, let opens, let continuation):
            [
                "event": "continued", "type": .string(type.text), "activity": .nullable(activity?.json),
                "opens": .nullable(opens?.json), "continuation": .nullable(continuation?.hex),
            ]
        }
    }
}

/// `ContinuedActivity`: an activity that was continued here, with its payload.
package struct ContinuedActivity: Sendable, Equatable {
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
    /// Whether continuation streams can be asked for.
    package var streams: Bool
    /// The device and the app that it came from.
    package var origin: ControlOrigin

    /// What a payload from another device becomes for the app that continues it.
    package init(id: ActivityID, content: ActivityContent, origin: ControlOrigin) {
        self.id = id
        type = content.type
        title = content.title
        userInfo = content.userInfo
        webpageURL = content.webpageURL
        team = content.team
        requiredUserInfoKeys = content.requiredUserInfoKeys
        streams = content.supportsStreams
        self.origin = origin
    }

    /// Reads the fields; throws `invalidParameter`. The device is read from `origin` alone.
    package init(_ fields: Fields) throws(VarlinkError) {
        id = try fields.id("id")
        type = try fields.type("type")
        title = try fields.optionalText("title")
        userInfo = try fields.object("userInfo")
        webpageURL = try fields.optionalText("webpageURL")
        team = try fields.optionalText("team")
        requiredUserInfoKeys = try fields.texts("requiredUserInfoKeys")
        streams = try fields.flag("streams")
        origin = try ControlOrigin(try fields.fields("origin"))
    }

    /// The object on the socket.
    package var json: JSONObject {
        [
            "id": .string(id.hex), "type": .string(type.text), "title": .nullable(title), "userInfo": .object(userInfo),
            "webpageURL": .nullable(webpageURL), "team": .nullable(team),
            "requiredUserInfoKeys": .texts(requiredUserInfoKeys), "streams": .bool(streams),
            "device": .string(origin.device.hex), "deviceName": .string(origin.deviceName),
            "deviceKind": .string(origin.deviceKind.name), "origin": .object(origin.json),
        ]
    }
}

/// `Origin`: the device and the app that an activity came from.
package struct ControlOrigin: Sendable, Equatable {
    /// The device.
    package var device: DeviceID
    /// Its name.
    package var deviceName: String
    /// What it is.
    package var deviceKind: DeviceKind
    /// What the app there calls itself.
    package var app: String?
    /// The version that the app there names.
    package var appVersion: String?

    /// An origin with these properties.
    package init(
        device: DeviceID, deviceName: String, deviceKind: DeviceKind, app: String? = nil, appVersion: String? = nil
    ) {
        self.device = device
        self.deviceName = deviceName
        self.deviceKind = deviceKind
        self.app = app
        self.appVersion = appVersion
    }

    /// Reads the fields; throws `invalidParameter`.
    package init(_ fields: Fields) throws(VarlinkError) {
        self.init(
            device: try fields.id("device"), deviceName: try fields.text("deviceName"),
            deviceKind: try fields.kind("deviceKind"), app: try fields.optionalText("app"),
            appVersion: try fields.optionalText("appVersion"))
    }

    /// The object on the socket.
    package var json: JSONObject {
        [
            "device": .string(device.hex), "deviceName": .string(deviceName), "deviceKind": .string(deviceKind.name),
            "app": .nullable(app), "appVersion": .nullable(appVersion),
        ]
    }
}
