package import LoopIO

/// All that is known of one instance at one moment.
package struct DiscoveredService: Sendable, Equatable {
    /// The instance name, in lower case; `static:host:port` for a configured peer.
    package var instance: String
    /// The strings of its newest TXT record, in no particular order; nil until one arrived.
    package var text: [[UInt8]]?
    /// The port of its SRV record; nil until one arrived.
    package var port: UInt16?
    /// Where it can be reached, best first, at most `ServiceDirectory.addressCap`: with the port, and with the
    /// interface as scope if link-local. Only addresses that are on-link on the interface that told them,
    /// link-local, private, or loopback when told on `lo`. Empty until one and the port are known.
    package var addresses: [SocketAddress]

    package init(
        instance: String, text: [[UInt8]]? = nil, port: UInt16? = nil, addresses: [SocketAddress] = []
    ) {
        self.instance = instance
        self.text = text
        self.port = port
        self.addresses = addresses
    }
}
