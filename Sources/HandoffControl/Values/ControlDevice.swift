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

/// The results of `RemoveDevice`: who has heard of it.
package struct RemovalEvent: Sendable, Equatable {
    /// What the results tell.
    package enum Kind: String, Sendable {
        /// The device is removed, and a new account key holds.
        case removed
        /// One more member has that key.
        case confirmed
    }

    /// What is told.
    package var kind: Kind
    /// The device that was removed.
    package var device: DeviceID
    /// Members that have the new key, this device included.
    package var confirmed: [DeviceID]
    /// Members that have yet to hear: until then the removed device reads what they offer.
    package var waiting: [DeviceID]

    /// Results with these properties.
    package init(kind: Kind, device: DeviceID, confirmed: [DeviceID], waiting: [DeviceID]) {
        self.kind = kind
        self.device = device
        self.confirmed = confirmed
        self.waiting = waiting
    }

    /// Reads the results; throws `invalidParameter`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        guard let kind = Kind(rawValue: try fields.text("event")) else { throw fields.invalid("event") }
        self.init(
            kind: kind, device: try fields.id("device"), confirmed: try fields.ids("confirmed"),
            waiting: try fields.ids("waiting"))
    }

    /// The results on the socket.
    package var json: JSONObject {
        func list(_ devices: [DeviceID]) -> JSON { .array(devices.map { .string($0.hex) }) }
        return [
            "event": .string(kind.rawValue), "device": .string(device.hex), "confirmed": list(confirmed),
            "waiting": list(waiting),
        ]
    }
}
