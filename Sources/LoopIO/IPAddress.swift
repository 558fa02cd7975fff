import Glibc

/// An IPv4 or IPv6 address; an IPv6 address includes the interface it is valid on. An IPv4-mapped
/// IPv6 address (`::ffff:192.0.2.1`) is always stored as the IPv4 address.
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// 4 or 16 bytes in network order.
    package let bytes: [UInt8]
    /// The index of the interface that a link-local IPv6 address belongs to; 0 for all other
    /// addresses, or if unknown.
    package let scope: UInt32

    /// - Parameters:
    ///   - bytes: 4 or 16 bytes in network order; any other count returns nil.
    ///   - scope: the interface index; ignored unless the address is a link-local IPv6 address.
    package init?(bytes: some Collection<UInt8>, scope: UInt32 = 0) {
        let bytes = Array(bytes)
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]
        switch bytes.count {
        case 4:
            self.bytes = bytes
            self.scope = 0
        case 16 where bytes.starts(with: mapped):
            self.bytes = Array(bytes.suffix(4))
            self.scope = 0
        case 16:
            self.bytes = bytes
            self.scope = Self.isScoped(bytes) ? scope : 0
        default:
            return nil
        }
    }

    /// Parses `192.0.2.1`, `2001:db8::1`, `fe80::1%eth0` or `fe80::1%2`. An unknown interface name
    /// returns nil.
    package init?(text: String) {
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, first.utf8.count < 64, !first.utf8.contains(0) else { return nil }
        var scope: UInt32 = 0
        if parts.count == 2 {
            let name = String(parts[1])
            guard !name.isEmpty, !name.utf8.contains(0) else { return nil }
            scope = UInt32(name) ?? if_nametoindex(name)
            guard scope != 0 else { return nil }
        }
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET6, String(first), &bytes) == 1 {
            self.init(bytes: bytes, scope: scope)
        } else if parts.count == 1, inet_pton(AF_INET, String(first), &bytes) == 1 {
            self.init(bytes: bytes.prefix(4))
        } else {
            return nil
        }
    }

    private init(constant bytes: [UInt8]) {
        self.bytes = bytes
        scope = 0
    }

    /// 0.0.0.0: all IPv4 addresses of this machine.
    package static let anyIPv4 = IPAddress(constant: [0, 0, 0, 0])
    /// `::`: all addresses of this machine.
    static let anyIPv6 = IPAddress(constant: [UInt8](repeating: 0, count: 16))
    /// 127.0.0.1.
    package static let loopbackIPv4 = IPAddress(constant: [127, 0, 0, 1])
    /// `::1`.
    package static let loopbackIPv6 = IPAddress(constant: [UInt8](repeating: 0, count: 15) + [1])

    package var isIPv4: Bool { bytes.count == 4 }

    /// True for 0.0.0.0 and `::`.
    package var isUnspecified: Bool { bytes.allSatisfy { $0 == 0 } }

    /// True if packets to it never leave the machine: 127.0.0.0/8 or `::1`.
    package var isLoopback: Bool { isIPv4 ? bytes[0] == 127 : self == .loopbackIPv6 }

    /// True if it is valid on one link only: 169.254.0.0/16 (RFC 3927) or fe80::/10 (RFC 4291,
    /// 2.5.6).
    package var isLinkLocal: Bool {
        isIPv4 ? bytes[0] == 169 && bytes[1] == 254 : bytes[0] == 0xfe && bytes[1] & 0xc0 == 0x80
    }

    /// True if Internet routers do not forward it: RFC 1918 for IPv4, fc00::/7 (RFC 4193) for IPv6.
    package var isPrivate: Bool {
        guard isIPv4 else { return bytes[0] & 0xfe == 0xfc }
        switch (bytes[0], bytes[1]) {
        case (10, _), (172, 16...31), (192, 168): return true
        default: return false
        }
    }

    /// The address as formatted by inet_ntop(3), followed by `%` and the interface's name if it has
    /// a scope.
    package var description: String {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(isIPv4 ? AF_INET : AF_INET6, bytes, &buffer, socklen_t(buffer.count)) != nil else { return "?" }
        let text = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard scope != 0 else { return text }
        var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        guard if_indextoname(scope, &name) != nil else { return "\(text)%\(scope)" }
        return text + "%" + String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Returns the same address with the given interface, if it is an address that needs one.
    package func withScope(_ scope: UInt32) -> IPAddress {
        IPAddress(bytes: bytes, scope: scope) ?? self
    }

    /// Link-local unicast and multicast addresses have no meaning without their interface.
    private static func isScoped(_ bytes: [UInt8]) -> Bool {
        (bytes[0] == 0xfe && bytes[1] & 0xc0 == 0x80) || (bytes[0] == 0xff && bytes[1] & 0x0f <= 2)
    }
}
