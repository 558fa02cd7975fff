package import LoopIO

/// A peer from the configuration: a host name or an address, and a port.
package struct StaticPeer: Hashable, Sendable, CustomStringConvertible {
    /// A DNS name or an address in text form, without brackets, in lower case.
    package let host: String
    /// Never 0.
    package let port: UInt16
    /// The address, when the host is one; it needs no look-up.
    package let address: SocketAddress?

    /// Reads `host:port`, `192.0.2.1:24863` or `[fe80::1%eth0]:24863`; nil for anything else.
    package init?(text: String) {
        if let address = SocketAddress(text: text) {
            guard address.port != 0, address.address.isUnicast else { return nil }
            self.host = address.host
            self.port = address.port
            self.address = address
        } else {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let port = UInt16(parts[1]), port != 0,
                // A dot at the end is allowed: it says that the name is complete.
                let name = DomainName(parts[0].hasSuffix(".") ? String(parts[0].dropLast()) : String(parts[0]))
            else { return nil }
            self.host = name.text
            self.port = port
            self.address = nil
        }
    }

    /// The instance that events name.
    package var instance: String { "static:\(description)" }

    /// The form that `init(text:)` reads.
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
