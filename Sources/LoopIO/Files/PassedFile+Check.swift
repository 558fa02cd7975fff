import CLinux
import Glibc

extension PassedFile {
    /// The intended use of a passed file.
    package enum Use: Sendable {
        /// Its bytes are read.
        case reading
        /// Bytes are written to it.
        case writing
    }

    /// Checks that `FileReader` or `FileWriter` supports the descriptor's kind and that it is open
    /// for the use. Does not block: the call does not reach the server of a file system.
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

    /// True for a unix stream socket, which supports non-blocking calls independently of its flags.
    package var isUnixStream: Bool {
        guard let raw, clinux_socket_type(raw) == Int32(SOCK_STREAM.rawValue) else { return false }
        var domain: Int32 = 0
        var size = UInt32(MemoryLayout<Int32>.size)
        return getsockopt(raw, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX
    }
}

/// The kind of an open file, for reading and writing.
enum FileKind: Sendable {
    /// A regular file: always ready, and every call may block on its file system.
    case regular
    /// One end of a pipe or FIFO. poll(2) reports when it is ready.
    case pipe
    /// A stream socket. poll(2) reports when it is ready.
    case socket
    /// Anything else, such as a device. Code that accepts it treats it as a regular file.
    case other

    init(of descriptor: Int32) throws(Errno) {
        switch mode_t(try SystemCall.retrying { clinux_file_type(descriptor) }) {
        case S_IFREG: self = .regular
        case S_IFIFO: self = .pipe
        case S_IFSOCK: self = clinux_socket_type(descriptor) == Int32(SOCK_STREAM.rawValue) ? .socket : .other
        default: self = .other
        }
    }

    /// True if poll(2) reports when a call would not block.
    var isPolled: Bool { self == .pipe || self == .socket }
}

extension Errno {
    /// EBADF: the descriptor does not exist, or does not support the operation.
    package static let badDescriptor = Errno(rawValue: EBADF)
    /// EIO: the device or its file system has failed.
    package static let inputOutput = Errno(rawValue: EIO)
}
