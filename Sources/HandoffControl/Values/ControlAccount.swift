package import HandoffJSON
package import HandoffModel

/// The results of `GetAccount`.
package struct ControlAccount: Sendable, Equatable {
    /// The account, or nil when there is none.
    package var account: AccountID?
    /// Its epoch, or nil when there is no account.
    package var epoch: UInt64?
    /// How many devices it has, this one included.
    package var devices: Int
    /// Exports that can still be imported.
    package var tickets: [ControlTicket]

    /// An account with these properties.
    package init(account: AccountID?, epoch: UInt64?, devices: Int, tickets: [ControlTicket]) {
        self.account = account
        self.epoch = epoch
        self.devices = devices
        self.tickets = tickets
    }

    /// Reads the results; throws `invalidParameter`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        self.init(
            account: try fields.account(), epoch: try fields.epoch(), devices: try fields.integer("devices"),
            tickets: try fields.tickets())
    }

    /// The results on the socket.
    package var json: JSONObject {
        [
            "account": .nullable(account?.hex), "epoch": .nullable(epoch: epoch), "devices": .integer(Int64(devices)),
            "tickets": .array(tickets.map { .object($0.json) }),
        ]
    }
}

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
