package import HandoffJSON
package import HandoffModel

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
