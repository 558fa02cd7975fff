package import HandoffJSON
package import HandoffModel

/// The parameters of `Attach`.
package struct AttachRequest: Sendable, Equatable {
    /// What the app calls itself.
    package var app: String
    /// Its version.
    package var version: String?
    /// Its team.
    package var team: String?
    /// The activity types that it continues.
    package var types: [ActivityType]

    /// An app with these properties.
    package init(app: String, version: String? = nil, team: String? = nil, types: [ActivityType] = []) {
        self.app = app
        self.version = version
        self.team = team
        self.types = types
    }

    /// Reads the parameters; throws `invalidParameter`, also for an app without a name and for texts that are too long.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        app = try fields.text("app")
        version = try fields.optionalText("version")
        team = try fields.optionalText("team")
        guard (1...Limits.appName).contains(app.utf8.count) else { throw fields.invalid("app") }
        guard version?.utf8.count ?? 0 <= Limits.appName else { throw fields.invalid("version") }
        guard team?.utf8.count ?? 0 <= Limits.team else { throw fields.invalid("team") }
        types = []
        for (position, text) in try fields.texts("types").enumerated() {
            guard let type = ActivityType(text) else { throw fields.invalid("types[\(position)]") }
            types.append(type)
        }
    }

    /// The parameters on the socket; what is absent is left out.
    package var json: JSONObject {
        var json: JSONObject = ["app": .string(app), "types": .texts(types.map(\.text))]
        json["version"] = version.map(JSON.string)
        json["team"] = team.map(JSON.string)
        return json
    }
}
