package import HandoffJSON
package import HandoffModel

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
