import Glibc
import HandoffModel
package import LoopIO

/// A configured peer: a host name or an address, and a port.
package struct StaticPeer: Hashable, Sendable, CustomStringConvertible {
    /// A DNS name or an address in text form, without brackets, in lower case.
    package let host: String
    /// The port, never 0.
    package let port: UInt16
    /// The address, if the host is one. It needs no lookup.
    package let address: SocketAddress?

    /// Parses `host:port`, `192.0.2.1:24863` or `[fe80::1%eth0]:24863`. Returns nil for anything
    /// else.
    package init?(text: String) {
        guard let given = StaticAddress(text) else { return nil }
        if let address = SocketAddress(text: text) {
            guard address.address.isUnicast else { return nil }
            self.host = address.host
            self.port = address.port
            self.address = address
        } else {
            // A trailing dot is allowed. It marks the name as complete.
            guard let name = DomainName(given.host.hasSuffix(".") ? String(given.host.dropLast()) : given.host) else {
                return nil
            }
            self.host = name.text
            self.port = given.port
            self.address = nil
        }
    }

    /// The instance name in events.
    package var instance: String { "static:\(description)" }

    /// The form that `init(text:)` parses.
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// Resolves host names with the system's resolver (getaddrinfo(3)), which reads files, queries DNS,
/// and blocks.
package enum NameLookup {
    /// Returns the addresses of a peer's host, best first in RFC 6724 order, at most
    /// `ServiceDirectory.maxAddresses`; empty if there are none or no server responds.
    package static func addresses(of peer: StaticPeer) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(peer.host, String(peer.port), &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next?.pointee, addresses.count < ServiceDirectory.maxAddresses {
            next = entry.ai_next
            guard let address = address(of: entry), address.isUnicast else { continue }
            let found = SocketAddress(address, port: peer.port)
            if !addresses.contains(found) { addresses.append(found) }
        }
        return addresses
    }

    private static func address(of entry: addrinfo) -> IPAddress? {
        guard let pointer = entry.ai_addr else { return nil }
        // The family determines the structure of the address (getaddrinfo(3)).
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
