/// Why a passed descriptor is not used. The descriptions are fragments of messages for the client that passed it.
package enum PassedFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// It is no regular file, no pipe and no stream socket.
    case unsuitable
    /// It is not open for reading.
    case notReadable
    /// It is not open for writing.
    case notWritable
    /// A system call has failed, or somebody took the descriptor before (EBADF).
    case system(Errno)

    package var description: String {
        switch self {
        case .unsuitable: "the descriptor is neither a regular file nor a pipe nor a stream socket"
        case .notReadable: "the descriptor is not open for reading"
        case .notWritable: "the descriptor is not open for writing"
        case .system(let error): "cannot look at the descriptor: \(error)"
        }
    }
}
