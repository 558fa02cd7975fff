/// Why the bytes of a connection are no acceptable frame; each ends the connection.
package enum FrameError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The length is 0, so that there is not even a kind.
    case empty

    /// The length is above every cap of this state, or above that of its kind.
    case tooLong(length: UInt32)

    /// This state takes no frame of this kind.
    case notAllowed(code: UInt8)

    /// A lower-case fragment for logs.
    package var description: String {
        switch self {
        case .empty: "frame without a kind"
        case .tooLong(let length): "frame of \(length) bytes is too long here"
        case .notAllowed(let code): "frame of kind \(code) is not allowed here"
        }
    }
}
