import CLinux
import Glibc

/// A listening TCP socket and a UDP socket that are bound to the same port.
///
/// Both sockets are dual-stack: IPv4 addresses appear mapped, and `SocketAddress` normalises them.
/// They are AF_INET if the kernel has no IPv6 support or if the requested address is an IPv4
/// address.
@frozen
package struct BoundPort: ~Copyable {
    /// The listening TCP socket, for `Listener`.
    package var tcp: Descriptor
    /// The UDP socket, for `DatagramSocket`.
    package var udp: Descriptor
    /// The port of both.
    package let port: UInt16

    /// The port that firewall rules open, and the next nine for additional users of a machine.
    package static let defaultPorts: ClosedRange<UInt16> = 24863...24872
    /// The maximum number of pending connections. The kernel reduces it to net.core.somaxconn.
    private static let backlog: Int32 = 128
    /// The kernel picks ports that are free for TCP. The probability that all of 16 such ports are
    /// taken for UDP is negligible.
    private static let attempts = 16

    /// Duplicates the sockets (dup(2)). The port stays bound and listening until all of them are
    /// closed.
    package func duplicate() throws(Errno) -> BoundPort {
        BoundPort(tcp: try tcp.duplicate(), udp: try udp.duplicate(), port: port)
    }

    private static func bind(port: UInt16, address: IPAddress?) throws(Errno) -> BoundPort {
        let tcp = try bindTCP(port: port, address: address)
        let bound = try SocketAddress.local(of: tcp.raw).port
        let udp = try bindUDP(port: bound, address: address)
        return BoundPort(tcp: tcp, udp: udp, port: bound)
    }

    /// Opens a listening TCP socket only. SO_REUSEADDR allows the bind while connections of an
    /// earlier run linger. On Linux it does not allow two listening sockets on a port.
    package static func bindTCP(port: UInt16, address: IPAddress? = nil) throws(Errno) -> Descriptor {
        try dualStack(address) { (family, address) throws(Errno) in
            let socket = try open(family, Int32(SOCK_STREAM.rawValue))
            try setOption(socket.raw, CLINUX_REUSE_ADDRESS, 1)
            try bind(socket.raw, family, SocketAddress(address, port: port))
            let raw = socket.raw
            try SystemCall.retrying { listen(raw, backlog) }
            return socket
        }
    }

    /// Opens a UDP socket only. Without SO_REUSEADDR, which would let another user's socket on the
    /// port receive our datagrams.
    package static func bindUDP(port: UInt16, address: IPAddress? = nil) throws(Errno) -> Descriptor {
        try dualStack(address) { (family, address) throws(Errno) in
            let socket = try open(family, Int32(SOCK_DGRAM.rawValue))
            if family == AF_INET6 {
                try setOption(socket.raw, CLINUX_PACKET_INFO_6, 1)
            }
            // Needed on a dual-stack socket too: its IPv4 datagrams report their local address this
            // way.
            try setOption(socket.raw, CLINUX_PACKET_INFO, 1)
            try bind(socket.raw, family, SocketAddress(address, port: port))
            return socket
        }
    }

    /// Tries IPv6 for all addresses, and falls back to IPv4 if the kernel has no IPv6 support or it
    /// is disabled.
    private static func dualStack(
        _ address: IPAddress?, _ body: (Int32, IPAddress) throws(Errno) -> Descriptor
    ) throws(Errno) -> Descriptor {
        if let address {
            return try body(address.isIPv4 ? AF_INET : AF_INET6, address)
        }
        do throws(Errno) {
            return try body(AF_INET6, .anyIPv6)
        } catch {
            // socket(2) fails with ipv6.disable=1, bind(2) with net.ipv6.conf.all.disable_ipv6=1.
            guard error == .familyNotSupported || error == .addressNotAvailable else { throw error }
            return try body(AF_INET, .anyIPv4)
        }
    }

    private static func open(_ family: Int32, _ type: Int32) throws(Errno) -> Descriptor {
        let socket = Descriptor(owning: try SystemCall.retrying { clinux_socket(family, type) })
        if family == AF_INET6 {
            // The system default may be 1 (net.ipv6.bindv6only).
            try setOption(socket.raw, CLINUX_V6_ONLY, 0)
        }
        return socket
    }

    /// Binds the socket, even to an address that this machine does not have yet: DHCP may assign it
    /// after the login.
    private static func bind(_ raw: Int32, _ family: Int32, _ address: SocketAddress) throws(Errno) {
        if address.address != .anyIPv6, address.address != .anyIPv4 {
            try setOption(raw, family == AF_INET6 ? CLINUX_FREE_BIND_6 : CLINUX_FREE_BIND, 1)
        }
        let result = address.withSockaddr(family: family) { pointer, length in Glibc.bind(raw, pointer, length) }
        if result != 0 { throw .current }
    }
}

extension BoundPort {
    /// Binds the given port, or any free port if `port` is 0.
    /// - Parameter address: one of this machine's addresses; nil for all.
    /// - Throws: `addressInUse` if the port is taken for either protocol.
    package init(port: UInt16, address: IPAddress? = nil) throws(Errno) {
        guard port == 0 else {
            self = try Self.bind(port: port, address: address)
            return
        }
        for _ in 1..<Self.attempts {
            do throws(Errno) {
                self = try Self.bind(port: 0, address: address)
                return
            } catch {
                guard error == .addressInUse else { throw error }
            }
        }
        self = try Self.bind(port: 0, address: address)
    }

    /// Binds the first port of `ports` that is free for both protocols, otherwise any free port.
    package init(
        firstFreeOf ports: ClosedRange<UInt16> = BoundPort.defaultPorts, address: IPAddress? = nil
    ) throws(Errno) {
        for port in ports {
            do throws(Errno) {
                self = try Self.bind(port: port, address: address)
                return
            } catch {
                guard error == .addressInUse else { throw error }
            }
        }
        try self.init(port: 0, address: address)
    }
}
