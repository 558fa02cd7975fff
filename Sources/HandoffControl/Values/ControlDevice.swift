package import HandoffJSON
package import HandoffModel

/// `Device`: a device of the account.
package struct ControlDevice: Sendable, Equatable {
    /// Its id.
    package var id: DeviceID
    /// The name that its owner gave it; a claim of that device.
    package var name: String
    /// What it is.
    package var kind: DeviceKind
    /// Whether it is this device; the field `self`.
    package var isSelf: Bool
    /// Whether it is reachable now.
    package var online: Bool
    /// Whether it is known to have the account key in force.
    package var current: Bool
    /// Whether it was admitted by pairing here, and has not said yet that it has stored the account.
    package var unfinished: Bool
    /// The device that let it in; nil for the founder.
    package var admittedBy: DeviceID?

    /// A device with these properties.
    package init(
        id: DeviceID, name: String, kind: DeviceKind, isSelf: Bool, online: Bool, current: Bool = true,
        unfinished: Bool = false, admittedBy: DeviceID? = nil
    ) {
        self.id = id
        self.name = name
        self.kind = kind
        self.isSelf = isSelf
        self.online = online
        self.current = current
        self.unfinished = unfinished
        self.admittedBy = admittedBy
    }

    /// Reads the fields; throws `invalidParameter`.
    package init(_ fields: Fields) throws(VarlinkError) {
        self.init(
            id: try fields.id("id"), name: try fields.text("name"), kind: try fields.kind("kind"),
            isSelf: try fields.flag("self"), online: try fields.flag("online"),
            current: try fields.flag("current"), unfinished: try fields.flag("unfinished"),
            admittedBy: try fields.optionalID("admittedBy"))
    }

    /// The object on the socket.
    package var json: JSONObject {
        [
            "id": .string(id.hex), "name": .string(name), "kind": .string(kind.name), "self": .bool(isSelf),
            "online": .bool(online), "current": .bool(current), "unfinished": .bool(unfinished),
            "admittedBy": .nullable(admittedBy?.hex),
        ]
    }
}
