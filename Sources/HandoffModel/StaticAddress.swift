/// A device address as the user writes it: `host:port`, `address:port` or `[IPv6 address]:port`.
package struct StaticAddress: Sendable, Hashable {
    /// The host name or address, without brackets.
    package let host: String

    /// The port, 1 to 65535.
    package let port: UInt16

    /// The maximum length of a host name (RFC 1035, section 2.3.4), in bytes.
    static let hostByteLimit = 253

    /// Parses an address. Returns nil if `text` is not valid.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let colon = bytes.lastIndex(of: UInt8(ascii: ":")) else { return nil }
        let digits = bytes[(colon + 1)...]
        guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let port = UInt16(String(decoding: digits, as: UTF8.self)), port > 0
        else { return nil }
        var host = bytes[..<colon]
        let isBracketed = host.first == UInt8(ascii: "[") && host.last == UInt8(ascii: "]")
        if isBracketed { host = host.dropFirst().dropLast() }
        // Reject an IPv6 address without brackets, because the start of its port is ambiguous. Only
        // IPv6 addresses may have brackets.
        guard isBracketed == host.contains(UInt8(ascii: ":")) else { return nil }
        guard !host.isEmpty, host.count <= Self.hostByteLimit, host.first != UInt8(ascii: "-"),
            host.allSatisfy({ Self.isHostByte($0, inBrackets: isBracketed) }),
            let name = String(validating: host, as: UTF8.self)
        else { return nil }
        self.host = name
        self.port = port
    }

    /// The address in the form that `init` parses.
    package var text: String {
        host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// True for a link-local IPv6 address (`fe80::/10`) without an interface after a `%`. It cannot
    /// be connected to, because every interface has such addresses (RFC 4007).
    package var needsZone: Bool {
        let parts = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let bare = parts.first, bare.contains(":"), let group = bare.split(separator: ":").first,
            !bare.hasPrefix(":"), let prefix = UInt16(group, radix: 16), (0xFE80...0xFEBF).contains(prefix)
        else { return false }
        return parts.count < 2 || parts[1].isEmpty
    }

    /// Advice for an address that needs a zone: the missing part, and the form to write.
    package var zoneAdvice: String {
        let bare = host.prefix { $0 != "%" }
        return
            "a link-local address needs the interface that leads to the device: [\(bare)%INTERFACE]:\(port), such as "
            + "[\(bare)%eth0]:\(port)"
    }

    /// Returns whether a byte may occur in a host name, or in a bracketed address with its scope.
    private static func isHostByte(_ byte: UInt8, inBrackets: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        case UInt8(ascii: ":"), UInt8(ascii: "%"):
            inBrackets
        default:
            false
        }
    }
}
