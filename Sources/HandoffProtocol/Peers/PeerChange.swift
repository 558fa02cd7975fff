package import HandoffModel

/// What became different in a ``PeerTable``, for those who show it or act on it.
package enum PeerChange: Sendable, Equatable {
    /// A device is there that was not.
    case appeared(DeviceID)

    /// Label, port, kind, roster digest or epoch of a device are others than before.
    case changed(DeviceID)

    /// The offers of a device are others than before; age alone does not count.
    case offersChanged(DeviceID)

    /// A device offers more than it announced: fetch the whole list.
    case moreToFetch(DeviceID)

    /// A device is gone, with all that it offered.
    case gone(DeviceID, DepartureReason)
}
