import Glibc

/// The address family of a socket.
enum SocketFamily {
    /// Returns AF_INET, AF_INET6 or AF_UNIX for a socket (getsockname(2)).
    static func of(_ descriptor: Int32) throws(Errno) -> Int32 {
        var storage = sockaddr_storage()
        var length = UInt32(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            // Every socket address starts with sockaddr's fields; the length gives its size.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        if result != 0 { throw .current }
        return Int32(storage.ss_family)
    }
}
