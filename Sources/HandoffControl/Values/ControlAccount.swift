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
