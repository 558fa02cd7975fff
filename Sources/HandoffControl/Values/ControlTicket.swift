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

    /// A ticket with these properties.
    package init(id: String, device: DeviceID, mine: Bool) {
        self.id = id
        self.device = device
        self.mine = mine
    }

    /// Reads the fields; throws `invalidParameter`.
    package init(_ fields: Fields) throws(VarlinkError) {
        self.init(id: try fields.text("id"), device: try fields.id("device"), mine: try fields.flag("mine"))
    }

    /// The object on the socket.
    package var json: JSONObject {
        ["id": .string(id), "device": .string(device.hex), "mine": .bool(mine)]
    }
}
