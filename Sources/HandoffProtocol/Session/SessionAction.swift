/// The result of merging statements.
package enum MergeOutcome: Sendable, Equatable {
    /// New statements are stored, and their sender is a member.
    case live

    /// Their sender is not a member, even with them.
    case notLive

    /// They are invalid, and none was accepted.
    case refused
}

/// An action for the driver of a ``PeerSessionMachine``, to perform in the given order.
package enum SessionAction: Sendable, Equatable {
    case send(Frame)

    /// Merge these statements after `delay` and store the result, then report
    /// ``PeerSessionMachine/merged(_:hello:budget:at:)``. Nothing is read until then. Statements
    /// from a device that is not live are kept only if they make it live.
    case merge([UInt8], after: Duration)

    /// Both sides have accepted each other. The value is the peer's hello.
    case establish(Hello)

    /// The peer sent a new hello.
    case renew(Hello)

    /// The peer has recorded a greater generation of this device. Use one above it.
    case raiseGeneration(above: UInt64)

    case receiveEpochKey([UInt8])

    /// Respond to this request with ``PeerSessionMachine/respond(to:with:)``.
    case handle(PeerRequest)

    /// Handle this notice, if the method is known.
    case note(PeerNotice)

    /// A request of this side has ended.
    case complete(id: Int64, RequestOutcome)

    /// Close the connection. Only completions follow.
    case close(SessionEnd)
}

/// The outcome of a request of this side.
package enum RequestOutcome: Sendable, Equatable {
    case answered(PeerResponse.Outcome)

    /// The peer did not respond in time. A later response is ignored.
    case timedOut

    /// The connection ended before the response, or may not carry requests.
    case lost
}

/// The reason why this side closes a connection between devices.
package enum SessionEnd: Error, Equatable, Sendable, CustomStringConvertible {
    /// The bytes are not a frame that this state accepts.
    case framing(FrameError)

    /// The body of a frame is not a valid message.
    case message(MessageError)

    /// A frame of a known kind arrived in a state that does not accept it.
    case unexpected(FrameKind)

    /// A request id is not greater than the previous one, or a response matches no request.
    case wrongID(Int64)

    /// The peer was silent for too long.
    case late

    /// The peer is not live, and its statements do not make it live.
    case notLive

    /// The peer sent statements that are malformed or that no device is permitted to sign.
    case badStatements

    /// A member exceeds a limit tenfold, or leaves too many requests open.
    case flooding

    /// The connection is no longer needed.
    case done

    /// A lower-case sentence fragment for logs.
    package var description: String {
        switch self {
        case .framing(let error): error.description
        case .message(let error): error.description
        case .unexpected(let kind): "unexpected frame: \(kind)"
        case .wrongID(let id): "invalid request or response id \(id)"
        case .late: "the peer was silent for too long"
        case .notLive: "the device is not a member"
        case .badStatements: "the device sent invalid statements"
        case .flooding: "the device greatly exceeds its limits"
        case .done: "no longer needed"
        }
    }
}
