import HandoffControl
import HandoffJSON

/// A limit of connections that was reached, and the most connections that it allows.
enum ConnectionLimit {
    /// Of all clients.
    case all(Int)
    /// Of all clients of the app socket.
    case apps(Int)
    /// Of one unit or process, on one socket.
    case group(Int, ClientGroup)

    /// The error that a call on a connection beyond the limit is answered with.
    /// - Parameter reserved: how many of the connections are reserved for other calls than this one.
    func error(for call: VarlinkCall, reserved: Int = 0) -> CallError {
        let limit =
            switch self {
            case .all(let most): "all \(most) connections to the daemon are in use"
            case .apps(let most): "all \(most) connections to the daemon's app socket are in use"
            case .group(let most, let group):
                "\(group) uses all \(most) connections that one program may have to the daemon"
            }
        let message = reserved > 0 ? "\(limit), except \(reserved) for short calls of tools" : limit
        return call.interface == ControlNames.appInterface
            ? .limit("connections", message) : .limitExceeded("connections", message)
    }
}
