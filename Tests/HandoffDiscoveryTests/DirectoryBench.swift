import HandoffDiscovery
import LoopIO
import Testing

/// A directory with short methods for Avahi's reports.
struct DirectoryBench {
    static let browse = RecordQuery(kind: .instances, name: "_handoff._tcp.local")

    var directory: ServiceDirectory
    /// The queries of running browsers: the last result of `takeWanted`.
    private(set) var wanted: Set<RecordQuery> = []

    init(
        options: DiscoveryOptions = DiscoveryOptions(), hears: Bool = false,
        members: @escaping @Sendable (String) -> Bool = { _ in true }
    ) throws {
        directory = ServiceDirectory(options: options, hears: hears)
        directory.setInterfaces(try Fixture.table())
        directory.setMembership(members)
        _ = settle()
    }

    /// Settles in the same way as the driver.
    mutating func settle() -> [DiscoveryEvent] {
        let events = directory.settle()
        wanted = directory.takeWanted() ?? wanted
        return events
    }

    /// Returns the running query of a type for an instance.
    func query(_ kind: RecordQuery.Kind, _ instance: String) -> RecordQuery? {
        wanted.first { $0.kind == kind && $0.instance == instance }
    }

    func queries(for instance: String) -> Set<RecordQuery.Kind> {
        Set(wanted.filter { $0.instance == instance }.map(\.kind))
    }

    /// Delivers a packet from another device on the link.
    mutating func receive(
        _ packet: PlayedPacket, on link: RecordLink = Fixture.link(2), from source: String = "10.0.0.77"
    )
        throws -> [DiscoveryEvent]
    {
        let packet = try #require(packet.bytes.withUnsafeBytes { MulticastPacket($0) })
        directory.heard(packet, on: link, from: try Fixture.ip(source))
        return settle()
    }

    mutating func appear(_ instance: String, on link: RecordLink = Fixture.link(2)) throws -> [DiscoveryEvent] {
        directory.appeared(Self.browse, on: link, data: try Fixture.pointer(instance))
        return settle()
    }

    mutating func vanish(_ instance: String, on link: RecordLink = Fixture.link(2)) throws -> [DiscoveryEvent] {
        directory.vanished(Self.browse, on: link, data: try Fixture.pointer(instance))
        return settle()
    }

    mutating func text(_ instance: String, _ text: String, on link: RecordLink = Fixture.link(2)) throws
        -> [DiscoveryEvent]
    {
        let query = try #require(self.query(.text, instance))
        directory.appeared(query, on: link, data: try #require(TextData.encode([Array(text.utf8)])))
        return settle()
    }

    mutating func textVanishes(_ instance: String, _ text: String, on link: RecordLink = Fixture.link(2)) throws
        -> [DiscoveryEvent]
    {
        let query = try #require(self.query(.text, instance))
        directory.vanished(query, on: link, data: try #require(TextData.encode([Array(text.utf8)])))
        return settle()
    }

    mutating func target(_ instance: String, _ host: String, port: UInt16 = 80, on link: RecordLink = Fixture.link(2))
        throws -> [DiscoveryEvent]
    {
        let query = try #require(self.query(.target, instance))
        directory.appeared(query, on: link, data: try Fixture.target(host, port))
        return settle()
    }

    mutating func address(_ instance: String, _ text: String, on link: RecordLink = Fixture.link(2)) throws
        -> [DiscoveryEvent]
    {
        let address = try Fixture.ip(text)
        let query = try #require(self.query(address.isIPv4 ? .ipv4 : .ipv6, instance))
        directory.appeared(query, on: link, data: address.bytes)
        return settle()
    }

    mutating func noMore(_ instance: String, _ kinds: [RecordQuery.Kind] = [.ipv4, .ipv6]) throws -> [DiscoveryEvent] {
        for kind in kinds { directory.allForNow(try #require(self.query(kind, instance))) }
        return settle()
    }

    /// Makes an instance fully known.
    mutating func resolve(_ instance: String, address: String = "10.0.0.77") throws {
        _ = try appear(instance)
        _ = try text(instance, "v=1")
        _ = try target(instance, "h\(instance)")
        _ = try self.address(instance, address)
        _ = try noMore(instance)
    }
}

/// Returns the event for a service.
func service(_ instance: String, text: String? = nil, port: UInt16? = nil, _ addresses: [String] = []) throws
    -> DiscoveryEvent
{
    .service(
        DiscoveredService(
            instance: instance, text: text.map { [Array($0.utf8)] }, port: port,
            addresses: try addresses.map { try #require(SocketAddress(text: $0.replacingScope())) }))
}

extension String {
    /// Replaces the interface name, which does not exist on this system.
    fileprivate func replacingScope() -> String {
        split(separator: "%eth0", omittingEmptySubsequences: false).joined(separator: "%2")
    }
}
