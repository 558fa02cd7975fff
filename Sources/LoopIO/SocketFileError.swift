/// Why a unix socket could not be made at a path.
package enum SocketFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A live socket answers there: another daemon of ours runs.
    case inUse(path: String)
    /// The path is taken by something that we will not remove.
    case notASocket(path: String)
    /// The folder is not ours alone, so that others could replace the socket.
    case unsafeFolder(path: String, reason: String)
    /// A system call failed; the first part says at what.
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
