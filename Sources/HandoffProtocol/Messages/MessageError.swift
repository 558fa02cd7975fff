/// Why the JSON body of a frame is no message; each ends the connection, as the peer is authenticated and broken.
package enum MessageError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The body is no JSON object within the limits.
    case json(String)

    /// The named member is missing, or is not what its message says.
    case field(String)

    /// A lower-case fragment for logs.
    package var description: String {
        switch self {
        case .json(let cause): "message is not usable JSON: \(cause)"
        case .field(let name): "member \(name) of a message is missing or wrong"
        }
    }
}
