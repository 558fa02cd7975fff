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
