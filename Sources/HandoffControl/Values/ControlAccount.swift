package import HandoffModel

/// The results of `GetAccount`.
package struct ControlAccount: ControlValue {
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
}

/// `Ticket`: an export of the account that can still be imported.
package struct ControlTicket: ControlValue {
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
}
