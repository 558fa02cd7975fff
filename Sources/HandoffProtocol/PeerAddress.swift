/// Where datagrams and connections to a device go; the same number for UDP and TCP.
package struct PeerAddress: Hashable, Sendable {
    /// 4 bytes (IPv4) or 16 (IPv6), in network order.
    package let host: [UInt8]

    /// Index of the interface of a link-local IPv6 address, else 0.
    package let scope: UInt32

    /// UDP and TCP port.
    package let port: UInt16

    /// Nil unless `host` has 4 or 16 bytes and `port` is not 0.
    package init?(host: [UInt8], port: UInt16, scope: UInt32 = 0) {
        guard host.count == 4 || host.count == 16, port != 0 else { return nil }
        self.host = host
        self.port = port
        self.scope = scope
    }

    /// The same host and interface with another port.
    package func withPort(_ port: UInt16) -> PeerAddress? {
        PeerAddress(host: host, port: port, scope: scope)
    }
}
