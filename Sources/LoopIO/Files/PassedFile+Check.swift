import CLinux
import Glibc

extension PassedFile {
    /// What shall be done with a passed file.
    package enum Use: Sendable {
        /// Its bytes are read.
        case reading
        /// Bytes are written to it.
        case writing
    }

    /// Checks that the descriptor is of a kind that `FileReader` and `FileWriter` handle, and open for that. Does not wait:
    /// the server of a file system is not asked.
    package func check(for use: Use) throws(PassedFileError) {
        guard let raw else { throw .system(.badDescriptor) }
        let flags: Int32
        let kind: FileKind
        do throws(Errno) {
            flags = try SystemCall.retrying { fcntl(raw, F_GETFL) }
            kind = try FileKind(of: raw)
        } catch {
            throw .system(error)
        }
        guard kind != .other else { throw .unsuitable }
        let access = clinux_is_path_only(flags) == 1 ? nil : flags & O_ACCMODE
        switch use {
        case .reading: guard access == O_RDONLY || access == O_RDWR else { throw .notReadable }
        case .writing: guard access == O_WRONLY || access == O_RDWR else { throw .notWritable }
        }
    }

    /// Whether it is a unix stream socket, which can be told for each call not to wait.
    package var isUnixStream: Bool {
        guard let raw, clinux_socket_type(raw) == Int32(SOCK_STREAM.rawValue) else { return false }
        var domain: Int32 = 0
        var size = UInt32(MemoryLayout<Int32>.size)
        return getsockopt(raw, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX
    }
}

/// How an open file is read and written.
enum FileKind: Sendable {
    /// A regular file: always ready, and every call may wait for its file system.
    case regular
    /// One end of a pipe, named or not: poll(2) tells when it is ready.
    case pipe
    /// A stream socket: poll(2) tells when it is ready.
    case socket
    /// Anything else, such as a device. Treated as a regular file by those who take it nevertheless.
    case other

    init(of descriptor: Int32) throws(Errno) {
        switch mode_t(try SystemCall.retrying { clinux_file_type(descriptor) }) {
        case S_IFREG: self = .regular
        case S_IFIFO: self = .pipe
        case S_IFSOCK: self = clinux_socket_type(descriptor) == Int32(SOCK_STREAM.rawValue) ? .socket : .other
        default: self = .other
        }
    }

    /// Whether poll(2) tells when a call would not wait.
    var isPolled: Bool { self == .pipe || self == .socket }
}

extension Errno {
    /// EBADF: there is no such descriptor, or it cannot do this.
    package static let badDescriptor = Errno(rawValue: EBADF)
    /// EIO: the device or its file system has failed.
    package static let inputOutput = Errno(rawValue: EIO)
}
