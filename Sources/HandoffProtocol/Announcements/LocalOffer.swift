package import HandoffModel

/// An activity on offer by this device, with its receivers.
package struct LocalOffer: Sendable {
    /// The activity with its current age.
    package var activity: ActivitySummary
    /// The device that the activity is sent to; nil if it is offered to all. It is not announced.
    package let recipient: DeviceID?

    /// Creates an offer to one device, or to all.
    package init(_ activity: ActivitySummary, recipient: DeviceID? = nil) {
        self.activity = activity
        self.recipient = recipient
    }

    /// Returns whether the activity is announced to a device.
    package func isAddressed(to device: DeviceID) -> Bool { recipient == nil || recipient == device }

    /// Returns true if only the age differs, so that nothing has to be announced.
    package func hasSameContent(as other: LocalOffer) -> Bool {
        recipient == other.recipient && activity.hasSameContent(as: other.activity)
    }
}
