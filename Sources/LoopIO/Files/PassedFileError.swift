/// Reasons to reject a passed descriptor. The descriptions are fragments of messages for the client
/// that passed it.
package enum PassedFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The descriptor is not a regular file, pipe or stream socket.
    case unsuitable
    /// The descriptor is not open for reading.
    case notReadable
    /// The descriptor is not open for writing.
    case notWritable
    /// A system call has failed, or the descriptor was taken before (EBADF).
    case system(Errno)

    package var description: String {
        switch self {
        case .unsuitable: "the descriptor is neither a regular file nor a pipe nor a stream socket"
        case .notReadable: "the descriptor is not open for reading"
        case .notWritable: "the descriptor is not open for writing"
        case .system(let error): "cannot examine the descriptor: \(error)"
        }
    }
}
