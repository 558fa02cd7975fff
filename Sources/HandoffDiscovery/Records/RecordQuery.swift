/// A continuous query, which one record browser runs.
package struct RecordQuery: Hashable, Sendable {
    /// The record type and its purpose.
    package enum Kind: UInt8, Sendable, CaseIterable {
        /// PTR: the list of instances.
        case instances = 12
        /// TXT: the beacon of an instance.
        case text = 16
        /// SRV: the host and port of an instance.
        case target = 33
        /// A: the IPv4 addresses of its host.
        case ipv4 = 1
        /// AAAA: the IPv6 addresses of its host.
        case ipv6 = 28
    }

    /// The record type. Its raw value is the DNS number.
    package let kind: Kind
    /// The queried name, in text form without escapes.
    package let name: String
    /// The instance for which the query is made; empty for `instances`.
    package let instance: String
    /// The round, incremented to query again. A different round is a different query with its own
    /// browser.
    package let round: UInt32
    /// The index of the interface to query on; nil for all that Avahi uses.
    package let interface: UInt32?

    /// True if it queries the addresses of a host.
    package var isForAddresses: Bool { kind == .ipv4 || kind == .ipv6 }

    package init(kind: Kind, name: String, instance: String = "", round: UInt32 = 0, interface: UInt32? = nil) {
        self.kind = kind
        self.name = name
        self.instance = instance
        self.round = round
        self.interface = interface
    }
}

/// The link on which Avahi received a record. It reports each record once per interface and mDNS
/// protocol.
package struct RecordLink: Hashable, Sendable {
    package let interface: UInt32
    /// True if it arrived over mDNS's IPv6 group, which is independent of the record's own
    /// addresses.
    package let isIPv6: Bool

    package init(interface: UInt32, isIPv6: Bool) {
        self.interface = interface
        self.isIPv6 = isIPv6
    }
}
