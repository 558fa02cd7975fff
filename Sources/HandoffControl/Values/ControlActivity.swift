package import HandoffJSON
package import HandoffModel

/// `OfferedActivity`: an activity that another device offers.
package struct ControlActivity: ControlValue {
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
    /// Whether its user has sent it to this device, and to no other one.
    package var sent: Bool
    /// What would open it here.
    package var opens: ControlOpens

    /// An offer with these properties.
    package init(
        id: ActivityID, type: ActivityType, title: String?, team: String?, device: DeviceID, deviceName: String,
        deviceKind: DeviceKind, streams: Bool, webpageURL: String? = nil, hasWebpageURL: Bool, age: Double,
        sent: Bool = false, opens: ControlOpens
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
        self.sent = sent
        self.opens = opens
    }

    /// The fields as `JSONObject(encoding:absent:)` has them, in a fifth of the time: a list has a thousand activities.
    package var json: JSONObject {
        JSONObject(distinct: [
            ("id", .string(id.hex)), ("type", .string(type.text)), ("title", title.map(JSON.string) ?? .null),
            ("team", team.map(JSON.string) ?? .null), ("device", .string(device.hex)),
            ("deviceName", .string(deviceName)), ("deviceKind", .string(deviceKind.name)), ("streams", .bool(streams)),
            ("webpageURL", webpageURL.map(JSON.string) ?? .null), ("hasWebpageURL", .bool(hasWebpageURL)),
            ("age", .real(age)), ("sent", .bool(sent)), ("opens", .object(opens.json)),
        ])
    }
}

/// `Opens`: what would open an activity here.
package struct ControlOpens: ControlValue {
    /// What it is; the raw value is the field `kind`.
    package enum Kind: String, Codable, Sendable, CaseIterable {
        /// An app, which `name` names.
        case app
        /// The web browser.
        case web
        /// Nothing; `reason` says why.
        case nothing
    }

    /// What would open it.
    package var kind: Kind
    /// The app's or the browser's name.
    package var name: String?
    /// Why nothing would, as a fragment.
    package var reason: String?
    /// The app's id.
    package var app: String?
    /// The app's icon: a name in the desktop's theme, or an absolute path.
    package var icon: String?

    /// An app or a browser, by name, or nothing for a reason.
    package init(
        kind: Kind, name: String? = nil, reason: String? = nil, app: String? = nil, icon: String? = nil
    ) {
        self.kind = kind
        self.name = name
        self.reason = reason
        self.app = app
        self.icon = icon
    }

    /// The same as `encode` makes; see ``ControlActivity/json``.
    package var json: JSONObject {
        var members: [JSONObject.Element] = [("kind", .string(kind.rawValue))]
        if let name { members.append(("name", .string(name))) }
        if let reason { members.append(("reason", .string(reason))) }
        if let app { members.append(("app", .string(app))) }
        if let icon { members.append(("icon", .string(icon))) }
        return JSONObject(distinct: members)
    }

    /// All but the kind only when they are there, also in a reply.
    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(kind, forKey: .kind)
        if let name { try fields.encode(name, forKey: .name) }
        if let reason { try fields.encode(reason, forKey: .reason) }
        if let app { try fields.encode(app, forKey: .app) }
        if let icon { try fields.encode(icon, forKey: .icon) }
    }
}

/// The results of `Watch`: how the offers of the other devices change.
package enum WatchEvent: ControlMessage {
    /// An activity is on offer now.
    case added(ControlActivity)
    /// An offer is another than before.
    case changed(ControlActivity)
    /// An offer is gone; the activity is as it was last.
    case removed(ControlActivity)
    /// Every offer that there was at the beginning has been told.
    case ready

    /// Reads the results; throws `invalidParameter`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        switch try fields.text("event") {
        case "added": self = .added(try fields.value("activity"))
        case "changed": self = .changed(try fields.value("activity"))
        case "removed": self = .removed(try fields.value("activity"))
        case "ready": self = .ready
        default: throw fields.invalid("event")
        }
    }

    /// The results on the socket.
    package var json: JSONObject {
        .event(name, ["activity": activity?.field])
    }

    /// The field `event`.
    package var name: String {
        switch self {
        case .added: "added"
        case .changed: "changed"
        case .removed: "removed"
        case .ready: "ready"
        }
    }

    /// The activity that it is about.
    package var activity: ControlActivity? {
        switch self {
        case .added(let activity), .changed(let activity), .removed(let activity): activity
        case .ready: nil
        }
    }
}
