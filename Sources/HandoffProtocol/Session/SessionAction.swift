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

/// What became of a request of this side.
package enum RequestOutcome: Sendable, Equatable {
    /// The other side answered.
    case answered(PeerResponse.Outcome)

    /// It did not answer in time; a later answer is ignored.
    case timedOut

    /// The connection ended before the answer, or may not carry requests.
    case lost
}

/// Why a connection between devices is closed by this side.
package enum SessionEnd: Error, Equatable, Sendable, CustomStringConvertible {
    /// The bytes are no frame that this state takes.
    case framing(FrameError)

    /// The body of a frame is no message.
    case message(MessageError)

    /// A frame of a known kind at a time when it has no meaning.
    case unexpected(FrameKind)

    /// A request id that is not greater than the one before, or a response to what was never asked.
    case wrongID(Int64)

    /// The other side was silent for too long.
    case late

    /// The device is not live, and its statements do not make it so.
    case notLive

    /// The device sent statements that cannot be read, or that nobody may have signed so.
    case badStatements

    /// A member does ten times what it may, or leaves more requests open than it may.
    case flooding

    /// This side has no more use for the connection.
    case done

    /// A lower-case fragment for logs.
    package var description: String {
        switch self {
        case .framing(let error): error.description
        case .message(let error): error.description
        case .unexpected(let kind): "\(kind) came at a time when it has no meaning"
        case .wrongID(let id): "request or response has the wrong id \(id)"
        case .late: "the other side was silent for too long"
        case .notLive: "the device is not a member"
        case .badStatements: "the device sent statements that are not in order"
        case .flooding: "the device sends far more than it may"
        case .done: "no longer used"
        }
    }
}
