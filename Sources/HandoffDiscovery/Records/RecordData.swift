/// The data of an SRV record (RFC 2782), the location of a service. Priority and weight are not
/// used, because an instance has only one host.
package struct ServiceTarget: Hashable, Sendable {
    package let host: DomainName
    /// The port, never 0.
    package let port: UInt16

    package init(host: DomainName, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Decodes the record data: two ignored numbers, the port, and the host's uncompressed name.
    package init?(data: [UInt8]) {
        guard data.count > 6, let host = DomainName(wire: data[6...]) else { return nil }
        let port = UInt16(data[4]) << 8 | UInt16(data[5])
        guard port != 0 else { return nil }
        self.init(host: host, port: port)
    }

    package var data: [UInt8] {
        [0, 0, 0, 0, UInt8(truncatingIfNeeded: port >> 8), UInt8(truncatingIfNeeded: port)] + host.wire
    }
}

/// The data of TXT records (RFC 6763 section 6.1): strings, each preceded by its length in one
/// byte.
package enum TextData {
    /// The maximum number of bytes of TXT data to accept or publish. Avahi delivers a record only
    /// if it fits in one packet together with its name, and otherwise drops it silently. In a
    /// measurement, 1,380 bytes arrived with a short name.
    package static let maxByteCount = 1300

    /// Returns the strings without empty ones, or nil if the data is truncated or too long.
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

    /// Encodes strings. Returns nil if one is longer than 255 bytes or the result is too long.
    package static func encode(_ strings: [[UInt8]]) -> [UInt8]? {
        var data: [UInt8] = []
        for string in strings {
            guard let count = UInt8(exactly: string.count) else { return nil }
            data.append(count)
            data.append(contentsOf: string)
        }
        guard data.count <= maxByteCount else { return nil }
        // A TXT record has at least one string, which may be empty.
        return data.isEmpty ? [0] : data
    }
}
