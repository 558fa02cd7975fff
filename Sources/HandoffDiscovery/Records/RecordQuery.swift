/// One question to keep asking: what one record browser browses.
package struct RecordQuery: Hashable, Sendable {
    /// The kind of record, and what it is asked for.
    package enum Kind: UInt8, Sendable, CaseIterable {
        /// PTR: which instances there are.
        case instances = 12
        /// TXT: the beacon of an instance.
        case text = 16
        /// SRV: host and port of an instance.
        case target = 33
        /// A: IPv4 addresses of its host.
        case ipv4 = 1
        /// AAAA: IPv6 addresses of its host.
        case ipv6 = 28
    }

    /// The raw value is the DNS record type.
    package let kind: Kind
    /// The name that is asked for, in text form without need of escapes.
    package let name: String
    /// The instance that wants to know; empty for `instances`.
    package let instance: String
    /// Raised to ask again: another round is another query, with a browser of its own.
    package let round: UInt32
    /// The index of the interface to ask on; nil: all that Avahi uses.
    package let interface: UInt32?

    /// Whether it asks for the addresses of a host.
    package var isForAddresses: Bool { kind == .ipv4 || kind == .ipv6 }

    package init(kind: Kind, name: String, instance: String = "", round: UInt32 = 0, interface: UInt32? = nil) {
        self.kind = kind
        self.name = name
        self.instance = instance
        self.round = round
        self.interface = interface
    }
}

/// Where Avahi saw a record: it reports each once per interface and mDNS protocol.
package struct RecordLink: Hashable, Sendable {
    /// The interface's index.
    package let interface: UInt32
    /// Whether it came over mDNS's IPv6 group; that says nothing about the record's own addresses.
    package let isIPv6: Bool

    package init(interface: UInt32, isIPv6: Bool) {
        self.interface = interface
        self.isIPv6 = isIPv6
    }
}
