package import HandoffModel

/// The results of `GetAccount`.
package struct ControlAccount: ControlValue {
    /// The account, or nil if there is none.
    package var account: AccountID?
    /// Its epoch, or nil if there is no account.
    package var epoch: UInt64?
    /// The number of its devices, including this one.
    package var devices: Int
    /// Exports that can still be imported.
    package var tickets: [ControlTicket]

    package init(account: AccountID?, epoch: UInt64?, devices: Int, tickets: [ControlTicket]) {
        self.account = account
        self.epoch = epoch
        self.devices = devices
        self.tickets = tickets
    }
}

/// `Ticket`: an export of the account that can still be imported.
package struct ControlTicket: ControlValue {
    /// The ticket id, in hexadecimal.
    package var id: String
    /// The device that created it.
    package var device: DeviceID
    /// True if this device created it.
    package var mine: Bool
    /// Seconds since it was created. Only the creating device knows.
    package var age: Double?

    package init(id: String, device: DeviceID, mine: Bool, age: Double? = nil) {
        self.id = id
        self.device = device
        self.mine = mine
        self.age = age
    }
}
