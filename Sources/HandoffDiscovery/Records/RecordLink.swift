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
