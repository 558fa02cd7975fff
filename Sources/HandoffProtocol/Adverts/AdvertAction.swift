package import HandoffModel

/// What the driver of an ``AdvertMachine`` is to do, in the order given.
package enum AdvertAction: Sendable, Equatable {
    /// Seal the latest signed advert for `label` and send it.
    case send(to: PeerAddress, device: DeviceID, label: Label)

    /// Seal an acknowledgement of the device's advert for `label` and send it.
    case acknowledge(Position, device: DeviceID, to: PeerAddress, label: Label)

    /// Datagrams do not get through: say hello again, with the present number, on the open connection to the device, or first on a
    /// new one; then report ``AdvertMachine/delivered(to:peers:)`` or ``AdvertMachine/callFailed(to:peers:at:)``.
    case useConnection(DeviceID)

    /// Raise the sequence number, sign and publish anew, and report ``AdvertMachine/changed(peers:at:)``: what was
    /// announced would expire at the others.
    case renew

    /// The device does not answer any more: take it out of the table and ``AdvertMachine/forget(_:)`` it.
    case depart(DeviceID, DepartureReason)
}
