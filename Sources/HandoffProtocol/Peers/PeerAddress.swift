/// Where datagrams and connections to a device go; the same number for UDP and TCP.
package struct PeerAddress: Hashable, Sendable {
    /// The first 8 bytes of an IPv6 host; 0 for IPv4. Numbers, as addresses are compared for every datagram.
    private let high: UInt64

    /// The other 8 bytes, or the 4 of IPv4.
    private let low: UInt64

    /// True for IPv4.
    package let isIPv4: Bool

    /// Index of the interface of a link-local IPv6 address, else 0.
    package let scope: UInt32

    /// UDP and TCP port, never 0.
    package let port: UInt16

    /// Nil unless `host` has 4 or 16 bytes, in network order, and `port` is not 0.
    package init?(host: [UInt8], port: UInt16, scope: UInt32 = 0) {
        guard host.count == 4 || host.count == 16, port != 0 else { return nil }
        isIPv4 = host.count == 4
        high = isIPv4 ? 0 : Self.number(host.prefix(8))
        low = Self.number(host.suffix(8))
        self.port = port
        self.scope = scope
    }

    private init(_ other: PeerAddress, port: UInt16) {
        high = other.high
        low = other.low
        isIPv4 = other.isIPv4
        scope = other.scope
        self.port = port
    }

    /// 4 bytes (IPv4) or 16 (IPv6), in network order.
    package var host: [UInt8] {
        var writer = ByteWriter(capacity: 16)
        if isIPv4 {
            writer.u32(UInt32(truncatingIfNeeded: low))
        } else {
            writer.u64(high)
            writer.u64(low)
        }
        return writer.bytes
    }

    /// 16 bytes in network order, IPv4 as an IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2).
    package var hostInIPv6: [UInt8] {
        isIPv4 ? [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + host : host
    }

    /// The same host and interface with another port; nil for port 0.
    package func withPort(_ port: UInt16) -> PeerAddress? {
        port == 0 ? nil : PeerAddress(self, port: port)
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
