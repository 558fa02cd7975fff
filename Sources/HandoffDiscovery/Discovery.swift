package import LoopIO

/// One way to find the other devices and to be found by them.
///
/// Every method may be called from any thread, returns at once, and never waits for a bus, a daemon or the network:
/// the work happens on a thread that the discovery owns, in the order of the calls. Calls before `start` are kept.
package protocol Discovery: AnyObject, Sendable {
    /// What finds the devices right now; `AutomaticDiscovery` changes its answer.
    var kind: DiscoveryKind { get }

    /// Begins; called once. Events are delivered on a thread of the discovery, one at a time and in order, until
    /// `stop` is done; they must not wait for anything either.
    func start(_ onEvent: @escaping @Sendable (DiscoveryEvent) -> Void)

    /// The addresses with which a publication is announced now, the most useful ones first. Reads the kernel's tables, which answer
    /// at once.
    var ownAddresses: [IPAddress] { get }

    /// What shall be announced from now on; nil withdraws it. A change of the text alone is sent as an update; a new
    /// instance is announced before the old one is withdrawn.
    func publish(_ publication: Publication?)

    /// Tells members' instance names from strangers'. It is called on the discovery's thread, once for every name
    /// that appears and again for all names whenever this method is called. Until then nobody is a member.
    func setMembership(_ isMember: @escaping @Sendable (String) -> Bool)

    /// Discovers on these interfaces from now on, on none for an empty list, on the configured ones for nil. Only
    /// `LimitedDiscovery` can; the others do nothing.
    func limit(to interfaces: [String]?)

    /// Resolves one instance again, for example after a failed dial.
    func refresh(instance: String)

    /// Withdraws what was published and ends the thread. `done` is called there when the goodbyes are on their way;
    /// that can take as long as a hanging Avahi makes it, so the caller sets its own deadline and does not depend on
    /// it.
    func stop(_ done: @escaping @Sendable () -> Void)
}

extension Discovery {
    package var ownAddresses: [IPAddress] { [] }

    package func limit(to interfaces: [String]?) {}
}

/// Which implementation finds the devices; the raw value is what configuration, status and logs say.
package enum DiscoveryKind: String, Sendable {
    /// The system's avahi-daemon.
    case avahi = "avahi"
    /// Avahi's responder inside this process.
    case embedded = "embedded"
    /// Addresses from the configuration.
    case `static` = "static"
    /// None at present.
    case none = "none"
}

/// How one implementation fares; part of `DiscoveryEvent.state`.
package enum DiscoveryState: Sendable, Equatable {
    /// The state from the start until the first answer.
    case starting
    /// The state while it finds and publishes.
    case running
    /// The state while it runs, and does not announce this device or does not find others; it continues trying. The text gives the
    /// cause, as a fragment for a message.
    case impaired(String)
    /// The state while it cannot; it goes on trying. The text says why, as a fragment for a message.
    case unavailable(String)
}

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

    /// The name that instances are listed under. A type that is not two labels is a mistake of ours.
    var serviceName: DomainName {
        guard let name = DomainName(serviceType + ".local"), name.labels.count == 3 else {
            preconditionFailure("the service type has two labels: \(serviceType)")
        }
        return name
    }

    /// The addresses with which services are announced now, the most useful ones first; none when they cannot be read.
    package var presentAddresses: [IPAddress] {
        (try? InterfaceTable.current().published(by: self).alternating.map(\.address)) ?? []
    }

    /// True when only this machine is asked, over its loopback interface.
    package var isLoopbackOnly: Bool { interfaces == ["lo"] }

    /// Whether an interface is one of those to use.
    package func accepts(interface name: String) -> Bool {
        interfaces.isEmpty ? name != "lo" : interfaces.contains(name)
    }
}

/// What this device announces.
package struct Publication: Sendable, Equatable {
    /// The instance name: one DNS label of letters, digits, `-` and `_`, at most 63 bytes.
    package var instance: String
    /// The first label of the host name that the service points to, random and without `.local`; same rules.
    package var host: String
    /// The TCP and UDP port.
    package var port: UInt16
    /// The strings of the TXT record; at most 255 bytes each and `TextData.maxByteCount` in all.
    package var text: [[UInt8]]

    package init(instance: String, host: String, port: UInt16, text: [[UInt8]]) {
        self.instance = instance
        self.host = host
        self.port = port
        self.text = text
    }
}

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

/// What a discovery tells its owner; plain values only.
package enum DiscoveryEvent: Sendable, Equatable {
    /// An implementation came, went, or began.
    case state(DiscoveryKind, DiscoveryState)
    /// All that is known of an instance that is new or changed. It may be repeated without a change after Avahi
    /// came back.
    case service(DiscoveredService)
    /// The last record of an instance went away on its last interface. In mDNS anyone can make that happen, so it is
    /// a reason to probe, not a proof.
    case removed(instance: String)
    /// What the caches knew has been reported, and nothing more is expected soon.
    case allForNow
    /// Somebody else publishes under our name; a new one is needed.
    case conflict(instance: String)
    /// The set of this machine's own addresses changed.
    case networkChanged
}
