package import HandoffJSON
package import HandoffModel

/// An activity that another device offers, as clients receive it.
package struct OfferedActivity: DirectControlValue {
    /// Its id, which is valid until the other device withdraws it.
    package var id: ActivityID
    /// The activity type.
    package var type: ActivityType
    /// A description of what the user is doing there, unless titles are disabled.
    package var title: String?
    /// The team of the app.
    package var team: String?
    /// The device that offers it.
    package var device: DeviceID
    /// The name of that device.
    package var deviceName: String
    /// The kind of that device.
    package var deviceKind: DeviceKind
    /// True if continuation streams may be requested.
    package var streams: Bool
    /// The web page, known only after the activity was continued.
    var webpageURL: String?
    /// True if there is a web page.
    package var hasWebpageURL: Bool
    /// Seconds since it became current there.
    package var age: Double
    /// True if its user has sent it to this device only.
    package var sent: Bool
    /// The handler that would open it here.
    package var opens: ControlOpens
    /// The things that this device lacks. Nil from an older daemon. Folders and checkouts are known
    /// only after the activity was continued.
    package var missing: [ControlMissing]?
    /// The state of its device, if that cannot be reached and this one has a copy of the activity; nil
    /// while the device offers it.
    package var kept: ControlKept?
    /// True if its app edits the content exclusively; nil from an older daemon.
    package var exclusive: Bool?

    package init(
        id: ActivityID, type: ActivityType, title: String?, team: String?, device: DeviceID, deviceName: String,
        deviceKind: DeviceKind, streams: Bool, webpageURL: String? = nil, hasWebpageURL: Bool, age: Double,
        sent: Bool = false, opens: ControlOpens, missing: [ControlMissing]? = [],
        kept: ControlKept? = nil, exclusive: Bool? = false
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
        self.missing = missing
        self.kept = kept
        self.exclusive = exclusive
    }

    /// The fields, in the order of the properties.
    package var json: JSONObject {
        JSONObject(distinct: [
            ("id", .string(id.hex)), ("type", .string(type.text)), ("title", title.map(JSON.string) ?? .null),
            ("team", team.map(JSON.string) ?? .null), ("device", .string(device.hex)),
            ("deviceName", .string(deviceName)), ("deviceKind", .string(deviceKind.name)), ("streams", .bool(streams)),
            ("webpageURL", webpageURL.map(JSON.string) ?? .null), ("hasWebpageURL", .bool(hasWebpageURL)),
            ("age", .real(age)), ("sent", .bool(sent)), ("opens", .object(opens.json)),
            ("missing", missing.map { .array($0.map(\.field)) } ?? .null), ("kept", kept?.field ?? .null),
            ("exclusive", exclusive.map(JSON.bool) ?? .null),
        ])
    }
}

/// `Opens`: the handler that would open an activity here.
package struct ControlOpens: DirectControlValue {
    /// The kind of handler. The raw value is the field `kind`.
    package enum Kind: String, Codable, Sendable, CaseIterable {
        /// An app, whose name is in `name`.
        case app
        /// The web browser.
        case web
        /// Nothing; `reason` is the reason.
        case nothing
    }

    /// `AppChoice`: an app that the user can choose instead.
    package struct Choice: ControlValue {
        /// The app's id.
        package var app: String
        /// Its name for users.
        package var name: String

        package init(app: String, name: String) {
            self.app = app
            self.name = name
        }
    }

    /// The kind of handler.
    package var kind: ReplyWord<Kind>
    /// The name of the app or browser.
    package var name: String?
    /// Why there is no handler, as a fragment.
    package var reason: String?
    /// The app's id.
    package var app: String?
    /// The app's icon: a name in the desktop's theme, or an absolute path.
    package var icon: String?
    /// The apps that continue the activity, this one included, if there are several.
    package var choices: [Choice]?

    /// Creates a handler: an app or a browser by name, or nothing with a reason.
    package init(
        kind: Kind, name: String? = nil, reason: String? = nil, app: String? = nil, icon: String? = nil,
        choices: [Choice]? = nil
    ) {
        self.kind = ReplyWord(kind)
        self.name = name
        self.reason = reason
        self.app = app
        self.icon = icon
        self.choices = choices
    }

    /// Omits all nil fields, also in a reply.
    package var json: JSONObject {
        var members: [JSONObject.Element] = [("kind", .string(kind.text))]
        if let name { members.append(("name", .string(name))) }
        if let reason { members.append(("reason", .string(reason))) }
        if let app { members.append(("app", .string(app))) }
        if let icon { members.append(("icon", .string(icon))) }
        if let choices { members.append(("choices", .array(choices.map(\.field)))) }
        return JSONObject(distinct: members)
    }
}

/// The results of `Watch`: changes of the offers of other devices.
package enum WatchEvent: ControlMessage {
    /// A new offer.
    case added(OfferedActivity)
    /// An offer has changed.
    case changed(OfferedActivity)
    /// An offer has ended. The activity is its last state.
    case removed(OfferedActivity)
    /// All offers that existed at the start have been sent.
    case ready

    /// Decodes the results. Throws `invalidParameter` or `unknownEvent`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        let event = try fields.text("event")
        switch event {
        case "added": self = .added(try fields.value("activity"))
        case "changed": self = .changed(try fields.value("activity"))
        case "removed": self = .removed(try fields.value("activity"))
        case "ready": self = .ready
        default: throw .unknownEvent(event)
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

    /// The activity of the event, if any.
    package var activity: OfferedActivity? {
        switch self {
        case .added(let activity), .changed(let activity), .removed(let activity): activity
        case .ready: nil
        }
    }
}
