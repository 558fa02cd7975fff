package import HandoffProtocol

/// A datagram that has passed every check.
package enum OpenedDatagram: Sendable, Equatable {
    /// A live device says what it offers, under the label that it has now.
    case advert(Announcement, from: Label)

    /// Some member says that a live device has an advert of ours; under that device's label.
    case acknowledgement(Acknowledgement, from: Label)
}
