package import HandoffJSON
package import HandoffModel

/// `Ticket`: an export of the account that can still be imported.
package struct ControlTicket: Sendable, Equatable {
    /// What the ticket is called, in hexadecimal.
    package var id: String
    /// The device that made it.
    package var device: DeviceID
    /// Whether this device made it.
    package var mine: Bool
    /// Seconds since it was made; only the device that made it knows.
    package var age: Double?

    /// A ticket with these properties.
    package init(id: String, device: DeviceID, mine: Bool, age: Double? = nil) {
        self.id = id
        self.device = device
        self.mine = mine
        self.age = age
    }

    /// Reads the fields; throws `invalidParameter`.
    package init(_ fields: Fields) throws(VarlinkError) {
        self.init(
            id: try fields.text("id"), device: try fields.id("device"), mine: try fields.flag("mine"),
            age: try fields.optionalNumber("age"))
    }

    /// The object on the socket.
    package var json: JSONObject {
        [
            "id": .string(id), "device": .string(device.hex), "mine": .bool(mine),
            "age": age.map { .real($0) } ?? .null,
        ]
    }
}
