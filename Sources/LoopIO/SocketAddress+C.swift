import Glibc

extension SocketAddress {
    /// Converts an address that a system call has filled in. Returns nil for families other than
    /// IPv4 and IPv6.
    init?(storage: sockaddr_storage, length: UInt32) {
        switch Int32(storage.ss_family) {
        case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
            let address = reinterpret(storage, as: sockaddr_in.self)
            let bytes = withUnsafeBytes(of: address.sin_addr) { Array($0) }
            guard let parsed = IPAddress(bytes: bytes) else { return nil }
            self.init(parsed, port: UInt16(bigEndian: address.sin_port))
        case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
            let address = reinterpret(storage, as: sockaddr_in6.self)
            let bytes = withUnsafeBytes(of: address.sin6_addr) { Array($0) }
            guard let parsed = IPAddress(bytes: bytes, scope: address.sin6_scope_id) else { return nil }
            self.init(parsed, port: UInt16(bigEndian: address.sin6_port))
        default:
            return nil
        }
    }

    /// Calls `body` with the address in the form that system calls expect.
    /// - Parameter family: the socket's family, AF_INET or AF_INET6. An IPv4 address is mapped for
    ///   an IPv6 socket.
    func withSockaddr<Result>(family: Int32, _ body: (UnsafePointer<sockaddr>, UInt32) -> Result) -> Result {
        var storage = sockaddr_storage()
        let length: UInt32
        if family == AF_INET {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            // An IPv6 address does not fit here; its first bytes would be an unrelated IPv4
            // address.
            let bytes = isIPv4 ? self.address.bytes : [0, 0, 0, 0]
            withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: bytes) }
            storage = reinterpret(address, as: sockaddr_storage.self)
            length = UInt32(MemoryLayout<sockaddr_in>.size)
        } else {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_scope_id = self.address.scope
            withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: self.address.mappedBytes) }
            storage = reinterpret(address, as: sockaddr_storage.self)
            length = UInt32(MemoryLayout<sockaddr_in6>.size)
        }
        return withUnsafePointer(to: &storage) { pointer in
            // Every socket address starts with sockaddr's fields; the length gives its size.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    /// Returns the address that a socket is bound to (getsockname(2)).
    package static func local(of descriptor: Int32) throws(Errno) -> SocketAddress {
        try query(descriptor, getsockname)
    }

    /// Returns the address that a socket is connected to (getpeername(2)).
    package static func peer(of descriptor: Int32) throws(Errno) -> SocketAddress {
        try query(descriptor, getpeername)
    }

    private static func query(
        _ descriptor: Int32, _ call: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<UInt32>) -> Int32
    ) throws(Errno) -> SocketAddress {
        var storage = sockaddr_storage()
        var length = UInt32(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            // Every socket address starts with sockaddr's fields; the length gives its size.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { call(descriptor, $0, &length) }
        }
        if result != 0 { throw .current }
        guard let address = SocketAddress(storage: storage, length: length) else { throw .familyNotSupported }
        return address
    }
}

extension IPAddress {
    /// The address as 16 bytes; an IPv4 address as `::ffff:a.b.c.d` (RFC 4291, 2.5.5.2).
    var mappedBytes: [UInt8] {
        isIPv4 ? [UInt8](repeating: 0, count: 10) + [0xff, 0xff] + bytes : bytes
    }
}

/// Copies the common prefix of two C structures (but not objects that they point to). The rest of
/// the result is zero.
func reinterpret<Source, Target>(_ source: Source, as _: Target.Type) -> Target {
    withUnsafeTemporaryAllocation(of: Target.self, capacity: 1) { target in
        let raw = UnsafeMutableRawBufferPointer(target)
        raw.initializeMemory(as: UInt8.self, repeating: 0)
        withUnsafeBytes(of: source) { raw.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0.prefix(raw.count))) }
        return raw.loadUnaligned(as: Target.self)
    }
}
