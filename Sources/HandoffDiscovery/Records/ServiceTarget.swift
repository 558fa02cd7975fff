/// The data of an SRV record (RFC 2782): where a service is. Priority and weight have no meaning here: an instance has
/// one host.
package struct ServiceTarget: Hashable, Sendable {
    /// The host's name.
    package let host: DomainName
    /// The port, never 0.
    package let port: UInt16

    package init(host: DomainName, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Decodes the record's data: two ignored numbers, the port, the host's uncompressed name.
    package init?(data: [UInt8]) {
        guard data.count > 6, let host = DomainName(wire: data[6...]) else { return nil }
        let port = UInt16(data[4]) << 8 | UInt16(data[5])
        guard port != 0 else { return nil }
        self.init(host: host, port: port)
    }

    /// The record's data.
    package var data: [UInt8] {
        [0, 0, 0, 0, UInt8(truncatingIfNeeded: port >> 8), UInt8(truncatingIfNeeded: port)] + host.wire
    }
}
