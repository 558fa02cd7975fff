import Glibc
import HandoffModel
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
        guard let given = StaticAddress(text) else { return nil }
        if let address = SocketAddress(text: text) {
            guard address.address.isUnicast else { return nil }
            self.host = address.host
            self.port = address.port
            self.address = address
        } else {
            // A dot at the end is allowed: it says that the name is complete.
            guard let name = DomainName(given.host.hasSuffix(".") ? String(given.host.dropLast()) : given.host) else {
                return nil
            }
            self.host = name.text
            self.port = given.port
            self.address = nil
        }
    }

    /// The instance that events name.
    package var instance: String { "static:\(description)" }

    /// The form that `init(text:)` reads.
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// Looks host names up with the system's resolver (getaddrinfo(3)), which reads files, asks DNS, and waits.
package enum NameLookup {
    /// The addresses of a peer's host, best first as RFC 6724 sorts them, at most `ServiceDirectory.addressCap`; empty
    /// when there are none or nobody answers.
    package static func addresses(of peer: StaticPeer) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(peer.host, String(peer.port), &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next?.pointee, addresses.count < ServiceDirectory.addressCap {
            next = entry.ai_next
            guard let address = address(of: entry), address.isUnicast else { continue }
            let found = SocketAddress(address, port: peer.port)
            if !addresses.contains(found) { addresses.append(found) }
        }
        return addresses
    }

    private static func address(of entry: addrinfo) -> IPAddress? {
        guard let pointer = entry.ai_addr else { return nil }
        // The family says which structure the address is (getaddrinfo(3)).
        switch entry.ai_family {
        case AF_INET:
            return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin_addr) { IPAddress(bytes: Array($0)) }
            }
        case AF_INET6:
            return pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                withUnsafeBytes(of: address.pointee.sin6_addr) {
                    IPAddress(bytes: Array($0), scope: address.pointee.sin6_scope_id)
                }
            }
        default:
            return nil
        }
    }
}
