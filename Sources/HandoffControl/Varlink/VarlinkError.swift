/// What the other side of a Varlink connection did wrong.
package enum VarlinkError: Error, Equatable, Sendable {
    /// A message exceeds `VarlinkFramer.maximumMessage`.
    case messageTooLarge
    /// A message is no JSON that is accepted, or not the envelope of a call or reply; says what is wrong.
    case malformed(String)
    /// A parameter is missing or of the wrong type; its path, such as `activity.title`.
    case invalidParameter(String)
}

extension VarlinkError: CustomStringConvertible {
    /// A fragment for a log or an error line.
    package var description: String {
        switch self {
        case .messageTooLarge: "a message is longer than \(VarlinkFramer.maximumMessage) bytes"
        case .malformed(let problem): "malformed message: \(problem)"
        case .invalidParameter(let path): "missing or invalid parameter '\(path)'"
        }
    }
}
