import CLinux
import Glibc

/// Unix stream sockets at a path.
package enum UnixSocket {
    /// The maximum number of pending connections.
    private static let backlog: Int32 = 64

    /// A listening socket and its file.
    struct Listening: ~Copyable {
        private var descriptor: Descriptor?
        let file: UnixSocketFile

        init(_ descriptor: consuming Descriptor, file: UnixSocketFile) {
            self.descriptor = consume descriptor
            self.file = file
        }

        /// Returns the descriptor, once.
        mutating func takeDescriptor() throws(Errno) -> Descriptor {
            guard let descriptor = descriptor.take() else { throw .invalidArgument }
            return descriptor
        }
    }

    /// A socket's folder, open and locked (flock(2)) for the lifetime of the value.
    private struct Folder: ~Copyable {
        private let descriptor: Descriptor
        /// The status of the opened folder, whatever its name refers to later.
        let status: FileStatus

        init(lock name: String) throws(Errno) {
            if mkdir(name.systemPath, 0o700) != 0, Errno.current != .exists { throw Errno.current }
            // Do not follow a symbolic link: another user's link could lead anywhere.
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
            let raw = try SystemCall.retrying { open(name.systemPath, flags) }
            let opened = Descriptor(owning: raw)
            let status = try FileStatus(of: raw)
            try SystemCall.retrying { flock(raw, LOCK_EX) }
            descriptor = opened
            self.status = status
        }

        consuming func unlock() {}
    }

    /// Connects to a listening unix socket (connect(2)). Blocks only while the listener's queue is
    /// full.
    /// - Parameter timeout: the maximum wait for a full queue, in whole seconds; zero does not
    ///   wait.
    /// - Returns: the connected socket, non-blocking.
    /// - Throws: `noSuchFile` or `connectionRefused` if no process listens, `wouldBlock` if the
    ///   queue stays full, `nameTooLong` if the path does not fit in a socket address.
    package static func connect(to path: String, timeout: Duration = .seconds(5)) throws(Errno) -> Descriptor {
        var address = try unixAddress(path)
        let socket = Descriptor(owning: try SystemCall.retrying { clinux_socket(AF_UNIX, Int32(SOCK_STREAM.rawValue)) })
        let raw = socket.raw
        if timeout > .zero {
            // The send timeout also limits connect(2) on a blocking socket (socket(7),
            // SO_SNDTIMEO).
            try SystemCall.retrying { fcntl(raw, F_SETFL, 0) }
            var limit = timeval(tv_sec: max(1, Int(clamping: timeout.components.seconds)), tv_usec: 0)
            let size = UInt32(MemoryLayout<timeval>.size)
            try SystemCall.retrying { setsockopt(raw, SOL_SOCKET, SO_SNDTIMEO, &limit, size) }
        }
        try SystemCall.retrying { withSockaddr(&address) { Glibc.connect(raw, $0, $1) } }
        try SystemCall.setNonBlocking(raw)
        return socket
    }

    /// Enlarges the send buffer of a connected socket for bulk data (SO_SNDBUF), up to the system's
    /// limit. Otherwise a reader is woken for every 200 KiB.
    package static func widen(_ descriptor: Int32) {
        // Ignore errors: transfers are only slower without it.
        try? setOption(descriptor, CLINUX_SEND_BUFFER, 1 << 20)
    }

    /// Returns the path that a unix socket is bound to, or nil for unnamed, abstract and other
    /// sockets.
    package static func path(of descriptor: Int32) -> String? {
        var address = sockaddr_un()
        var length = UInt32(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            // Every socket address starts with sockaddr's fields; the length gives its size.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0, Int32(address.sun_family) == AF_UNIX else { return nil }
        let bytes = withUnsafeBytes(of: address.sun_path) { Array($0.prefix { $0 != 0 }) }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// Creates a listening socket of mode 0600 in a folder of mode 0700, which is created if it
    /// does not exist. A dead socket's file is replaced; a live socket and other files are not.
    static func listen(at path: String) throws(SocketFileError) -> Listening {
        // Keep the lock until the socket listens. The second of two daemons that start together
        // then finds the first one's live socket.
        let folder = try openFolder(of: path)
        try clear(path)
        let listening: Listening
        do throws(Errno) {
            listening = try bindAndListen(path)
        } catch {
            throw .system("open socket \(path)", error)
        }
        folder.unlock()
        return listening
    }

    private static func bindAndListen(_ path: String) throws(Errno) -> Listening {
        var address = try unixAddress(path)
        let socket = Descriptor(owning: try SystemCall.retrying { clinux_socket(AF_UNIX, Int32(SOCK_STREAM.rawValue)) })
        let raw = socket.raw
        // The file gets the mode that the socket has at bind(2). A chmod of the file after bind
        // would let others connect in between, and a umask would apply to all threads.
        try SystemCall.retrying { fchmod(raw, 0o600) }
        let result = withSockaddr(&address) { bind(raw, $0, $1) }
        if result != 0 { throw .current }
        let file = try UnixSocketFile(at: path)
        try SystemCall.retrying { Glibc.listen(raw, backlog) }
        return Listening(socket, file: file)
    }

    /// Creates the folder if it does not exist, checks that only this user can access it, and locks
    /// it.
    /// - Returns: the locked folder.
    private static func openFolder(of path: String) throws(SocketFileError) -> Folder {
        guard path.hasPrefix("/"), let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else {
            throw .system("use \(path) as a socket's path: it must be absolute", .invalidArgument)
        }
        let name = slash == path.startIndex ? "/" : String(path[..<slash])
        let result = Result { () throws(Errno) in try Folder(lock: name) }
        switch consume result {
        case .failure(let error):
            throw .system("open folder \(name)", error)
        case .success(let folder):
            if folder.status.owner != geteuid() {
                throw .unsafeFolder(path: name, reason: "it belongs to another user")
            }
            if folder.status.mode & 0o077 != 0 {
                throw .unsafeFolder(path: name, reason: "others may enter it; its mode must be 0700")
            }
            return folder
        }
    }

    /// Removes the file of a socket on which no process listens. Throws for any other file.
    private static func clear(_ path: String) throws(SocketFileError) {
        let status: FileStatus
        do throws(Errno) {
            status = try FileStatus(at: path)
        } catch {
            if error == .noSuchFile { return }
            throw .system("examine \(path)", error)
        }
        guard status.isSocket else { throw .notASocket(path: path) }
        switch Result(catching: { () throws(Errno) in try connect(to: path, timeout: .zero).close() }) {
        case .success:
            throw .inUse(path: path)
        case .failure(.connectionRefused):
            // No process listens: a killed daemon has left the file.
            if unlink(path.systemPath) != 0 { throw .system("remove dead socket \(path)", .current) }
        case .failure:
            // A full queue, another type of socket or a denied connection: the socket may be in
            // use.
            throw .inUse(path: path)
        }
    }
}

/// Returns the C structure for a socket's path.
private func unixAddress(_ path: String) throws(Errno) -> sockaddr_un {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = path.systemBytes
    // One byte is reserved for the NUL. A name with a NUL inside or at the start (an abstract name)
    // is not a path.
    guard !bytes.isEmpty, !bytes.contains(0) else { throw .invalidArgument }
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { throw .nameTooLong }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return address
}

private func withSockaddr(
    _ address: inout sockaddr_un, _ body: (UnsafePointer<sockaddr>, UInt32) -> Int32
) -> Int32 {
    withUnsafePointer(to: &address) { pointer in
        // Every socket address starts with sockaddr's fields; the length gives its size.
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, UInt32(MemoryLayout<sockaddr_un>.size))
        }
    }
}
