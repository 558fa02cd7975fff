package import HandoffJSON
package import HandoffModel

/// `OfferedActivity`: an activity that another device offers.
package struct ControlActivity: Sendable, Equatable {
    /// Its id, until the other device withdraws it.
    package var id: ActivityID
    /// What kind of activity it is.
    package var type: ActivityType
    /// What the user is doing there, unless titles are off.
    package var title: String?
    /// The team of the app.
    package var team: String?
    /// The device that offers it.
    package var device: DeviceID
    /// That device's name.
    package var deviceName: String
    /// What that device is.
    package var deviceKind: DeviceKind
    /// Whether continuation streams can be asked for.
    package var streams: Bool
    /// The web page; known only after the activity was continued.
    package var webpageURL: String?
    /// Whether there is a web page.
    package var hasWebpageURL: Bool
    /// Seconds since it became current there.
    package var age: Double
    /// What would open it here.
    package var opens: ControlOpens

    /// An offer with these properties.
    package init(
        id: ActivityID, type: ActivityType, title: String?, team: String?, device: DeviceID, deviceName: String,
        deviceKind: DeviceKind, streams: Bool, webpageURL: String? = nil, hasWebpageURL: Bool, age: Double,
        opens: ControlOpens
    ) {
        self.id = id
        self.type = type
        self.title = title
        self.team = team
        self.device = device
        self.deviceName = deviceName
        self.deviceKind = deviceKind
        self.streams = streams
        self.webpageURL = webpageURL
        self.hasWebpageURL = hasWebpageURL
        self.age = age
        self.opens = opens
    }

    /// Reads the fields; throws `invalidParameter`.
    package init(_ fields: Fields) throws(VarlinkError) {
        self.init(
            id: try fields.id("id"), type: try fields.type("type"), title: try fields.optionalText("title"),
            team: try fields.optionalText("team"), device: try fields.id("device"),
            deviceName: try fields.text("deviceName"), deviceKind: try fields.kind("deviceKind"),
            streams: try fields.flag("streams"), webpageURL: try fields.optionalText("webpageURL"),
            hasWebpageURL: try fields.flag("hasWebpageURL"), age: try fields.number("age"),
            opens: try ControlOpens(try fields.fields("opens")))
    }

    /// The object on the socket.
    package var json: JSONObject {
        [
            "id": .string(id.hex), "type": .string(type.text), "title": .nullable(title), "team": .nullable(team),
            "device": .string(device.hex), "deviceName": .string(deviceName), "deviceKind": .string(deviceKind.name),
            "streams": .bool(streams), "webpageURL": .nullable(webpageURL), "hasWebpageURL": .bool(hasWebpageURL),
            "age": .real(age), "opens": .object(opens.json),
        ]
    }
}
