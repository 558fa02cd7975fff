package import HandoffJSON

extension ActivityContent {
    /// Returns the payload that is sent over the network. Absent fields and defaults are omitted.
    package func encodedPayload(origin: PayloadOrigin = PayloadOrigin()) -> JSONObject {
        // A list avoids a key lookup for each member.
        var payload: [JSONObject.Element] = []
        payload.reserveCapacity(10)
        payload.append((PayloadKey.type, .string(type.text)))
        if let title { payload.append((PayloadKey.title, .string(title))) }
        payload.append((PayloadKey.userInfo, .object(userInfo)))
        if let webpageURL { payload.append((PayloadKey.webpageURL, .string(webpageURL))) }
        if let team { payload.append((PayloadKey.team, .string(team))) }
        if !requiredUserInfoKeys.isEmpty {
            payload.append((PayloadKey.requiredUserInfoKeys, .array(requiredUserInfoKeys.map(JSON.string))))
        }
        if let targetContentIdentifier {
            payload.append((PayloadKey.targetContentIdentifier, .string(targetContentIdentifier)))
        }
        if let lineage { payload.append((PayloadKey.lineage, .object(lineage.json))) }
        if isExclusive { payload.append((PayloadKey.exclusive, true)) }
        if supportsStreams { payload.append((PayloadKey.streams, true)) }
        if let app = origin.app { payload.append((PayloadKey.app, .string(app))) }
        if let version = origin.appVersion { payload.append((PayloadKey.appVersion, .string(version))) }
        return JSONObject(distinct: payload)
    }

    /// Reads and validates a payload from another device: every field except its size, which the
    /// frame has limited.
    ///
    /// Unknown keys are ignored, and null means an absent field. A known key with a value of
    /// another type is an error.
    package init(payload: JSONObject) throws(ActivityError) {
        let fields = JSONFields<ActivityError>(payload) { .invalid(field: $0, message: "not \($1)") }
        guard let type = try fields.optionalText(PayloadKey.type).flatMap(ActivityType.init) else {
            throw .invalid(field: PayloadKey.type, message: "missing, or not an activity type")
        }
        self.init(
            type: type,
            title: try fields.optionalText(PayloadKey.title),
            userInfo: try fields.optionalObject(PayloadKey.userInfo) ?? [:],
            webpageURL: try fields.optionalText(PayloadKey.webpageURL),
            team: try fields.optionalText(PayloadKey.team),
            requiredUserInfoKeys: try fields.texts(PayloadKey.requiredUserInfoKeys),
            supportsStreams: try fields.isSet(PayloadKey.streams),
            targetContentIdentifier: try fields.optionalText(PayloadKey.targetContentIdentifier),
            lineage: try Self.lineage(fields), isExclusive: try fields.isSet(PayloadKey.exclusive))
        try checkFields()
    }
}

extension ActivityContent {
    private static func lineage(_ fields: JSONFields<ActivityError>) throws(ActivityError) -> Lineage? {
        guard let object = try fields.optionalObject(PayloadKey.lineage) else { return nil }
        guard let lineage = Lineage(message: object) else {
            throw .invalid(field: PayloadKey.lineage, message: "not a lineage")
        }
        return lineage
    }
}

/// The app at the origin, as named in a payload. These are unverified claims of a process. Use them
/// for display and to distinguish versions, never for trust.
package struct PayloadOrigin: Sendable, Equatable {
    package var app: String?
    /// The app's version, in any format.
    package var appVersion: String?

    /// Creates an origin in which any part may be unknown.
    package init(app: String? = nil, appVersion: String? = nil) {
        self.app = app
        self.appVersion = appVersion
    }

    /// Reads the origin from a payload. A field that is missing or has the wrong type is unknown.
    package init(payload: JSONObject) {
        self.init(
            app: payload[PayloadKey.app]?.string.flatMap(Self.bounded),
            appVersion: payload[PayloadKey.appVersion]?.string.flatMap(Self.bounded))
    }

    private static func bounded(_ text: String) -> String? {
        text.utf8.count <= Limits.appName ? text : nil
    }
}

/// The keys of a payload on the network.
enum PayloadKey {
    static let type = "type"
    static let title = "title"
    static let userInfo = "userInfo"
    static let webpageURL = "webpageURL"
    static let team = "team"
    static let requiredUserInfoKeys = "requiredUserInfoKeys"
    static let targetContentIdentifier = "targetContentIdentifier"
    static let streams = "streams"
    static let lineage = "lineage"
    static let exclusive = "exclusive"
    static let app = "app"
    static let appVersion = "appVersion"
}
