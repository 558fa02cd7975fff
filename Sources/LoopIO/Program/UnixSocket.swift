import Glibc

/// Connects to a unix stream socket.
package enum UnixSocket {
    /// Connects (connect(2)); on a unix socket that waits only while the server's queue is full, at most `patience`.
    /// - Returns: a non-blocking, close-on-exec descriptor.
    /// - Throws: ENAMETOOLONG for a path that no socket can have; ENOENT, ECONNREFUSED, EACCES and their like.
    package static func connect(to path: String, patience: Duration = .seconds(5)) throws(Errno) -> Descriptor {
        var address = sockaddr_un()
        let bytes = Array(path.utf8)
        let room = MemoryLayout.size(ofValue: address.sun_path) - 1
        guard !bytes.isEmpty, bytes.count <= room, !bytes.contains(0) else { throw .nameTooLong }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }

        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let socket = Descriptor(owning: try SystemCall.retrying { Glibc.socket(AF_UNIX, type, 0) })
        let number = socket.raw
        var limit = timeval(tv_sec: Int(patience.components.seconds), tv_usec: 0)
        let limitSize = socklen_t(MemoryLayout<timeval>.size)
        try SystemCall.retrying { setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &limit, limitSize) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        try withUnsafePointer(to: &address) { (pointer) throws(Errno) in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { (generic) throws(Errno) in
                _ = try SystemCall.retrying { Glibc.connect(number, generic, size) }
            }
        }
        try SystemCall.setNonBlocking(number)
        return socket
    }
}
