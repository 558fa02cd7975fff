/// Where and with which address families to discover.
package struct DiscoveryOptions: Sendable, Equatable {
    /// Names of the interfaces to use. Empty: all that Avahi uses, but for `lo`. `["lo"]`: this machine alone.
    package var interfaces: [String]
    /// Whether to ask and answer over IPv4, and to give IPv4 addresses.
    package var useIPv4: Bool
    /// The same for IPv6.
    package var useIPv6: Bool
    /// The type of service, two labels: `_handoff._tcp` unless pairing looks for its own.
    package var serviceType: String

    package init(
        interfaces: [String] = [], useIPv4: Bool = true, useIPv6: Bool = true, serviceType: String = "_handoff._tcp"
    ) {
        self.interfaces = interfaces
        self.useIPv4 = useIPv4
        self.useIPv6 = useIPv6
        self.serviceType = serviceType
    }

    /// True when only this machine is asked, over its loopback interface.
    package var isLoopbackOnly: Bool { interfaces == ["lo"] }

    /// Whether an interface is one of those to use.
    package func accepts(interface name: String) -> Bool {
        interfaces.isEmpty ? name != "lo" : interfaces.contains(name)
    }
}
