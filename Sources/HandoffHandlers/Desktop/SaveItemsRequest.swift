package import HandoffControl
package import HandoffModel

/// The parameters of `SaveItems`. Plain values.
package struct SaveItemsRequest: ControlRequest {
    /// An offer of another device.
    package struct Item: ControlValue, Equatable {
        package var device: DeviceID
        package var activity: ActivityID

        package init(device: DeviceID, activity: ActivityID) {
            self.device = device
            self.activity = activity
        }

        /// The argument of the program.
        package var argument: String { "\(device.hex)/\(activity.hex)" }
    }

    /// The maximum number of items: the limit of one `handoffctl send`.
    private static let maxItems = 32

    package var items: [Item]
    /// The activation token that lets the window come to the front.
    package var token: String?

    package init(items: [Item], token: ActivationToken?) {
        self.items = items
        self.token = token?.text
    }

    /// Checks the number of items, and the token.
    package func check() throws(VarlinkError) {
        guard (1...Self.maxItems).contains(items.count) else { throw .invalidParameter("items") }
        if let token, ActivationToken(token) == nil { throw .invalidParameter("token") }
    }
}
