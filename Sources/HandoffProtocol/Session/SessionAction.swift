/// What came of merging statements.
package enum MergeOutcome: Sendable, Equatable {
    /// They are stored, as far as they were new, and their sender is a member.
    case live

    /// Their sender is no member, also with them.
    case notLive

    /// They are not in order, and nothing was taken from them.
    case refused
}

/// What the driver of a ``PeerSessionMachine`` is to do, in the order given.
package enum SessionAction: Sendable, Equatable {
    /// Send a frame.
    case send(Frame)

    /// Merge these statements after `delay` and store the result, then report
    /// ``PeerSessionMachine/merged(_:hello:budget:at:)``; nothing is read until then. Of a device that is not live they are
    /// kept only if they make it so.
    case merge([UInt8], after: Duration)

    /// Both sides have accepted each other; what the other one says of itself.
    case establish(Hello)

    /// The other side says another thing of itself.
    case renew(Hello)

    /// The other side has seen a greater start number of this device: take one more than that.
    case raiseBoot(above: UInt64)

    /// The key of an epoch arrived.
    case takeEpochKey([UInt8])

    /// Answer this with ``PeerSessionMachine/respond(to:with:)``.
    case handle(PeerRequest)

    /// Act on this, if the method is known.
    case note(PeerNotice)

    /// A request of this side is over.
    case complete(id: Int64, RequestOutcome)

    /// Close the connection; no action follows but completions.
    case close(SessionEnd)
}
