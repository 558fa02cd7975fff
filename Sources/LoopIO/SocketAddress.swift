import Glibc

/// An IP address and a port.
package struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address, with its scope.
    package let address: IPAddress
    /// The port; 0 means any port.
    package let port: UInt16

    package init(_ address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// Parses `192.0.2.1:80` or `[fe80::1%eth0]:80`.
    package init?(text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits) else { return nil }
        var host = text[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = host.dropFirst().dropLast() }
        guard let address = IPAddress(text: String(host)) else { return nil }
        // Brackets separate an IPv6 address from the port. Mapped addresses need them too.
        guard isBracketed == host.contains(":") else { return nil }
        self.init(address, port: port)
    }

    var isIPv4: Bool { address.isIPv4 }
    /// True if packets to it never leave the machine.
    package var isLoopback: Bool { address.isLoopback }
    /// True if it is valid on one link only.
    var isLinkLocal: Bool { address.isLinkLocal }
    /// True if Internet routers do not forward it.
    var isPrivate: Bool { address.isPrivate }

    /// The address without port or brackets.
    package var host: String { address.description }

    /// The address in the form that `init(text:)` parses.
    package var description: String {
        isIPv4 ? "\(address):\(port)" : "[\(address)]:\(port)"
    }

    /// Returns the same address with another port.
    package func withPort(_ port: UInt16) -> SocketAddress {
        SocketAddress(address, port: port)
    }
}
