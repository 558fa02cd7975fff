/// The address for datagrams and connections to a device. UDP and TCP use the same port.
package struct PeerAddress: Hashable, Sendable {
    /// The first 8 bytes of an IPv6 host; 0 for IPv4. Stored as a number, because addresses are
    /// compared for every datagram.
    private let high: UInt64

    /// The last 8 bytes of an IPv6 host, or the 4 bytes of an IPv4 host.
    private let low: UInt64

    let isIPv4: Bool

    /// The interface index of a link-local IPv6 address, otherwise 0.
    package let scope: UInt32

    /// The UDP and TCP port, never 0.
    package let port: UInt16

    /// Returns nil unless `host` has 4 or 16 bytes, in network order, and `port` is not 0.
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

    /// 4 bytes (IPv4) or 16 bytes (IPv6), in network order.
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

    /// Returns the same host and interface with another port, or nil for port 0.
    func withPort(_ port: UInt16) -> PeerAddress? {
        port == 0 ? nil : PeerAddress(self, port: port)
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
