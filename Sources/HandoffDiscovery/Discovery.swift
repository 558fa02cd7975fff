package import LoopIO

/// A mechanism that finds other devices and makes this device discoverable.
///
/// Every method can be called from any thread and returns immediately, without waiting for a bus, a
/// daemon or the network. The work runs on a thread of the discovery, in the order of the calls.
/// Calls before `start` are queued.
package protocol Discovery: AnyObject, Sendable {
    /// The implementation that finds the devices now. For `AutomaticDiscovery`, it changes.
    var kind: DiscoveryKind { get }

    /// Starts the discovery. Call it once. Events are delivered on a thread of the discovery, one
    /// at a time and in order, until `stop` is done. The handler must not block either.
    func start(_ onEvent: @escaping @Sendable (DiscoveryEvent) -> Void)

    /// The addresses with which a publication is announced now, the most useful first. Reads the
    /// kernel's tables, which does not block.
    var ownAddresses: [IPAddress] { get }

    /// Sets the announcement; nil withdraws it. If only the text changes, it is sent as an update.
    /// A new instance is announced before the old one is withdrawn.
    func publish(_ publication: Publication?)

    /// Sets the predicate that recognises members' instance names. It is called on the discovery's
    /// thread, once for each name that appears, and again for all names after each call of this
    /// method. Until the first call, no instance is a member.
    func setMembership(_ isMember: @escaping @Sendable (String) -> Bool)

    /// Restricts discovery to these interfaces: none for an empty list, the configured ones for
    /// nil. Only `LimitedDiscovery` supports it; the others do nothing.
    func limit(to interfaces: [String]?)

    /// Resolves one instance again, for example after a failed connection attempt.
    func refresh(instance: String)

    /// Withdraws the publication and ends the thread. `done` is called on that thread after the
    /// goodbye packets have been sent. This can take as long as a hanging Avahi does, so the caller
    /// must set its own deadline and not depend on it.
    func stop(_ done: @escaping @Sendable () -> Void)
}

extension Discovery {
    package var ownAddresses: [IPAddress] { [] }

    package func limit(to interfaces: [String]?) {}
}

/// The implementation that finds the devices. The raw value appears in configuration, status and
/// logs.
package enum DiscoveryKind: String, Sendable {
    /// The system's avahi-daemon.
    case avahi = "avahi"
    /// Avahi's responder inside this process.
    case embedded = "embedded"
    /// Addresses from the configuration.
    case `static` = "static"
    /// No implementation at present.
    case none = "none"
}

/// The state of one implementation; part of `DiscoveryEvent.state`.
package enum DiscoveryState: Sendable, Equatable {
    /// The state from the start until the first response.
    case starting
    /// The state while it finds and publishes.
    case running
    /// The state while it runs but does not announce this device or does not find others. It keeps
    /// trying. The text is the cause, as a sentence fragment for a message.
    case impaired(String)
    /// The state while it is unavailable. It keeps trying. The text is the cause, as a sentence
    /// fragment for a message.
    case unavailable(String)
}

/// The interfaces and address families to use for discovery.
package struct DiscoveryOptions: Sendable, Equatable {
    /// The names of the interfaces to use. Empty means all that Avahi uses except `lo`. `["lo"]`
    /// means this machine only.
    package var interfaces: [String]
    /// True to query and respond over IPv4 and to report IPv4 addresses.
    package var useIPv4: Bool
    /// True to query and respond over IPv6 and to report IPv6 addresses.
    package var useIPv6: Bool
    /// The service type, two labels: `_handoff._tcp`, except for pairing, which uses its own.
    package var serviceType: String

    package init(
        interfaces: [String] = [], useIPv4: Bool = true, useIPv6: Bool = true, serviceType: String = "_handoff._tcp"
    ) {
        self.interfaces = interfaces
        self.useIPv4 = useIPv4
        self.useIPv6 = useIPv6
        self.serviceType = serviceType
    }

    /// The name under which instances are listed. A type without exactly two labels is a
    /// programming error.
    var serviceName: DomainName {
        guard let name = DomainName(serviceType + ".local"), name.labels.count == 3 else {
            preconditionFailure("the service type has two labels: \(serviceType)")
        }
        return name
    }

    /// The addresses with which services are announced now, the most useful first; empty if they
    /// cannot be read.
    package var presentAddresses: [IPAddress] {
        (try? InterfaceTable.current().published(by: self).alternating.map(\.address)) ?? []
    }

    /// True if only this machine is queried, over its loopback interface.
    package var isLoopbackOnly: Bool { interfaces == ["lo"] }

    /// Returns whether an interface is one of those to use.
    package func accepts(interface name: String) -> Bool {
        interfaces.isEmpty ? name != "lo" : interfaces.contains(name)
    }
}

/// The announcement of this device.
package struct Publication: Sendable, Equatable {
    /// The instance name: one DNS label of letters, digits, `-` and `_`, at most 63 bytes.
    package var instance: String
    /// The first label of the host name in the SRV record: random, without `.local`, under the same
    /// rules.
    package var host: String
    /// The TCP and UDP port.
    package var port: UInt16
    /// The strings of the TXT record, at most 255 bytes each and `TextData.maxByteCount` in total.
    package var text: [[UInt8]]

    package init(instance: String, host: String, port: UInt16, text: [[UInt8]]) {
        self.instance = instance
        self.host = host
        self.port = port
        self.text = text
    }
}

/// The information about one instance at one moment.
package struct DiscoveredService: Sendable, Equatable {
    /// The instance name, in lower case; `static:host:port` for a configured peer.
    package var instance: String
    /// The strings of its newest TXT record, in no particular order; nil until one arrives.
    package var text: [[UInt8]]?
    /// The port of its SRV record; nil until one arrives.
    package var port: UInt16?
    /// The addresses at which it can be reached, best first, at most
    /// `ServiceDirectory.maxAddresses`, with the port, and with the interface as scope if
    /// link-local. Only addresses that are on-link on the reporting interface, link-local, private,
    /// or loopback when reported on `lo`. Empty until an address and the port are known.
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

/// An event that a discovery reports to its owner; a plain value.
package enum DiscoveryEvent: Sendable, Equatable {
    /// An implementation started or changed its state.
    case state(DiscoveryKind, DiscoveryState)
    /// The information about an instance that is new or changed. It may be repeated without a
    /// change after Avahi returns.
    case service(DiscoveredService)
    /// The last record of an instance disappeared from its last interface. In mDNS, any host can
    /// cause this, so it is a reason to probe, not proof.
    case removed(instance: String)
    /// The cached information has been reported, and no more is expected soon.
    case allForNow
    /// Another device publishes under this device's instance name. A new name is needed.
    case conflict(instance: String)
    /// The addresses of this machine changed.
    case networkChanged
}
