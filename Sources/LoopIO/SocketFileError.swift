/// An error that prevents creating a unix socket at a path.
package enum SocketFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Another daemon is listening at the path.
    case inUse(path: String)
    /// The path exists, and is not a socket.
    case notASocket(path: String)
    /// The folder is not exclusive to this user, so that others could replace the socket.
    case unsafeFolder(path: String, reason: String)
    /// A system call failed. The text names the operation.
    case system(String, Errno)

    package var description: String {
        switch self {
        case .inUse(let path): "socket \(path) is in use by another program"
        case .notASocket(let path): "cannot replace \(path): it is not a socket"
        case .unsafeFolder(let path, let reason): "refusing to use folder \(path): \(reason)"
        case .system(let what, let error): "cannot \(what): \(error)"
        }
    }
}
