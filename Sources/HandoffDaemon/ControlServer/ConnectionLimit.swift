import HandoffControl
import HandoffJSON

/// A connection limit that was reached, with its maximum.
enum ConnectionLimit {
    /// Of all clients.
    case all(Int)
    /// Of all clients of the app socket.
    case apps(Int)
    /// Of one unit or process, on one socket.
    case group(Int, ClientGroup)

    /// The error reply to a call on a connection beyond the limit.
    /// - Parameter reserved: number of the connections that are reserved for other calls than this
    ///   one.
    func error(for call: VarlinkCall, reserved: Int = 0) -> CallError {
        let limit =
            switch self {
            case .all(let maximum): "all \(maximum) connections to the daemon are in use"
            case .apps(let maximum): "all \(maximum) connections to the daemon's app socket are in use"
            case .group(let maximum, let group):
                "\(group) uses all \(maximum) connections to the daemon that one program may have"
            }
        let message = reserved > 0 ? "\(limit), except \(reserved) for short calls of tools" : limit
        return call.interface == ControlNames.appInterface
            ? .limit("connections", message) : .limitExceeded("connections", message)
    }
}
