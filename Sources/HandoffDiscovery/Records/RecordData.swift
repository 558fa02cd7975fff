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

/// The data of TXT records (RFC 6763 section 6.1): strings, each after a byte with its length.
package enum TextData {
    /// The most bytes of TXT data that is taken or published. Avahi delivers a record only if it fits one packet with
    /// its name, and says nothing when it does not: 1,380 were measured to arrive with a short name.
    package static let maxByteCount = 1300

    /// The strings, without empty ones; nil when the data is cut off or too long.
    package static func decode(_ data: [UInt8]) -> [[UInt8]]? {
        guard data.count <= maxByteCount else { return nil }
        var rest = data[...]
        var strings: [[UInt8]] = []
        while let count = rest.popFirst() {
            guard rest.count >= Int(count) else { return nil }
            if count > 0 { strings.append(Array(rest.prefix(Int(count)))) }
            rest = rest.dropFirst(Int(count))
        }
        return strings
    }

    /// The data of those strings; nil when one is above 255 bytes or all together are too long.
    package static func encode(_ strings: [[UInt8]]) -> [UInt8]? {
        var data: [UInt8] = []
        for string in strings {
            guard let count = UInt8(exactly: string.count) else { return nil }
            data.append(count)
            data.append(contentsOf: string)
        }
        guard data.count <= maxByteCount else { return nil }
        // A TXT record has at least one string, if only an empty one.
        return data.isEmpty ? [0] : data
    }
}
