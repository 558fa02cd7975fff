/// What the driver of a ``PeerSessionMachine`` is to do, in the order given.
package enum SessionAction: Sendable, Equatable {
    /// Send a frame.
    case send(Frame)

    /// Merge these statements and store the result, then report ``PeerSessionMachine/merged(isLive:hello:budget:at:)``;
    /// nothing is read until then. Of a device that is not live they are kept only if they make it so.
    case merge([UInt8])

    /// Both sides have accepted each other; what the other one says of itself.
    case establish(Hello)

    /// The other side has seen a greater start number of this device: take one more than that.
    case raiseBoot(above: UInt64)

    /// The rosters differ: send this device's statements, if it still may.
    case offerStatements

    /// The other side lacks the current epoch's key: send it, if the device is live in the stored roster.
    case offerEpochKey

    /// The key of an epoch arrived.
    case takeEpochKey([UInt8])

    /// A signed advert arrived, as the body of its frame.
    case takeAdvert([UInt8])

    /// Answer this with ``PeerSessionMachine/respond(to:with:)``.
    case handle(PeerRequest)

    /// Act on this, if the method is known.
    case note(PeerNotice)

    /// A request of this side is over.
    case complete(id: Int64, RequestOutcome)

    /// Close the connection; no action follows but completions.
    case close(SessionEnd)
}
