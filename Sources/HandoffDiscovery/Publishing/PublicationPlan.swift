package import HandoffModel
import LoopIO

/// Plans the entry groups that should exist. A state machine of plain values: requests and Avahi's
/// responses go in, and `step` returns the actions. See `docs/state-machines/discovery.md`.
///
/// A replacement is announced before the old group is withdrawn, so that the device is always
/// visible to others.
package struct PublicationPlan: Sendable {
    /// The actions to perform, in this order.
    package enum Action: Equatable, Sendable {
        /// Create and commit a group, on all interfaces for nil.
        case make(UInt64, records: [PublishedRecord], interface: UInt32?)
        /// Replace the TXT record of a group.
        case update(UInt64, PublishedRecord, interface: UInt32?)
        /// Free a group, which sends its goodbye packets.
        case free(UInt64)
    }

    private enum State: Equatable, Sendable {
        /// The state from the commit until Avahi has announced the group.
        case announcing
        /// The state once other devices can see the group.
        case announced
        /// The state of a group that is freed once its replacement has had time to arrive.
        case retiring(since: MonotonicInstant)
    }

    private struct Group: Sendable {
        let id: UInt64
        let content: PublicationGroup
        var state: State
        var text: [UInt8] = []
    }

    /// The time for which a group and its replacement coexist: at least `min`, since an
    /// announcement takes up to 0.2 s to arrive, and at most `max`, if Avahi does not confirm the
    /// announcement.
    package static let overlap = (min: Duration.seconds(1), max: Duration.seconds(3))
    /// The minimum time between two updates of the text. At shorter intervals, Avahi stops
    /// responding for seconds.
    package static let textInterval = Duration.milliseconds(250)
    /// The delay before a rejected query is retried, and the first delay for a rejected group.
    package static let retryInterval = Backoff.publication.first
    /// The maximum number of addresses to publish on one interface and in total. Each is a group of
    /// the 1,024 objects of a client.
    package static let maxAddresses = (interface: 8, total: 64)

    private let options: DiscoveryOptions
    private let serviceName: DomainName
    private var publication: Publication?
    private var text: [UInt8] = []
    private var addresses: [LocalAddress] = []
    private var interfaces: [UInt32?] = []
    private var groups: [Group] = []
    private var lastID: UInt64 = 0
    private var textAllowed = MonotonicInstant(nanoseconds: 0)
    private var refused: [PublicationGroup: MonotonicInstant] = [:]
    /// The groups that failed and have not been announced since, with the reason and the number of
    /// failures.
    private var failures: [PublicationGroup: (reason: String, count: Int)] = [:]
    private var conflicted: Set<String> = []

    /// - Parameter options: As for `ServiceDirectory`.
    package init(options: DiscoveryOptions) {
        self.options = options
        self.serviceName = options.serviceName
    }

    /// Sets the publication. Returns false, without a change, if a name or the text cannot be
    /// published.
    package mutating func setPublication(_ publication: Publication?) -> Bool {
        guard let publication else {
            self.publication = nil
            return true
        }
        guard let instance = DomainName.label(publication.instance), let host = DomainName.label(publication.host),
            let text = TextData.encode(publication.text), publication.port != 0
        else { return false }
        self.publication = Publication(instance: instance, host: host, port: publication.port, text: publication.text)
        self.text = text
        conflicted.formIntersection([instance, host])
        return true
    }

    /// Sets the links and addresses of this machine.
    package mutating func setInterfaces(_ table: InterfaceTable) {
        interfaces = table.indexes(of: options.interfaces)
        addresses = table.published(by: options)
    }

    /// The library was closed, which freed all groups. Failures are kept until the groups are
    /// announced.
    package mutating func libraryLost() {
        groups = []
        refused = [:]
        conflicted = []
    }

    /// Other devices can now see the group.
    package mutating func established(_ id: UInt64) {
        guard let index = groups.firstIndex(where: { $0.id == id }), groups[index].state == .announcing else { return }
        groups[index].state = .announced
        failures[groups[index].content] = nil
    }

    /// Another device uses one of the group's names. Returns the conflicting instance, which is not
    /// published again under these names.
    package mutating func collided(_ id: UInt64) -> String? {
        guard let group = groups.first(where: { $0.id == id }), let publication else { return nil }
        switch group.content {
        case .service(let instance, _, _, _): conflicted.insert(instance)
        case .address(let host, _): conflicted.insert(host)
        }
        return conflicted.isDisjoint(with: [publication.instance, publication.host]) ? nil : publication.instance
    }

    /// The group could not be created, changed or kept. This plan frees it and retries later.
    package mutating func failed(_ id: UInt64, _ reason: String, at now: MonotonicInstant) {
        guard let content = groups.first(where: { $0.id == id })?.content else { return }
        let count = (failures[content]?.count ?? 0) + 1
        failures[content] = (reason, count)
        refused[content] = now + Backoff.publication.delay(after: count)
    }

    /// No group can be created, because the first attempt lost the library.
    package mutating func failedAsWhole(_ reason: String) {
        for content in desiredGroups { failures[content] = (reason, (failures[content]?.count ?? 0) + 1) }
    }

    /// The reason why other devices cannot find this device: a group of the service failed, or
    /// those of all addresses. Nil once they are announced.
    package var failure: String? {
        guard !failures.isEmpty else { return nil }
        let desired = desiredGroups
        let addresses = desired.filter { if case .address = $0 { true } else { false } }
        let services = desired.dropFirst(addresses.count)
        if let reason = services.lazy.compactMap({ failures[$0]?.reason }).first { return reason }
        let reasons = addresses.compactMap { failures[$0]?.reason }
        return reasons.count == addresses.count ? reasons.first : nil
    }

    /// True if there is something to announce.
    var isPublishing: Bool { publication != nil }

    /// True if the library has announced the current service.
    package var isAnnounced: Bool { groups.contains { isService($0) && $0.state == .announced } }

    /// Returns whether a name in wire form is an instance of this device.
    func isOwn(_ name: [UInt8]) -> Bool {
        groups.contains {
            guard case .service(let instance, _, _, _) = $0.content else { return false }
            return DomainName("\(instance).\(serviceName.text)")?.wire == name
        }
    }

    /// The time at which `step` is due again without any change; nil if it is not.
    package var deadline: MonotonicInstant? {
        var times = Array(refused.values)
        for group in groups {
            if case .retiring(let since) = group.state {
                times.append(since + (isReplaced ? PublicationPlan.overlap.min : PublicationPlan.overlap.max))
            }
            if isService(group), group.text != text { times.append(textAllowed) }
        }
        return times.min()
    }

    /// Returns the actions to perform now.
    package mutating func step(at now: MonotonicInstant) -> [Action] {
        refused = refused.filter { $0.value > now }
        let all = desiredGroups
        if !failures.isEmpty { failures = failures.filter { all.contains($0.key) } }
        let desired = all.filter { refused[$0] == nil }
        var actions = retire(allBut: Set(desired), at: now)
        for content in desired where !groups.contains(where: { $0.content == content }) {
            lastID += 1
            groups.append(Group(id: lastID, content: content, state: .announcing, text: text))
            actions.append(
                .make(
                    lastID, records: content.records(serviceName: serviceName, text: text),
                    interface: content.interface))
        }
        return actions + updateTexts(at: now) + freeRetired(at: now)
    }

    private var desiredGroups: [PublicationGroup] {
        guard let publication, conflicted.isDisjoint(with: [publication.instance, publication.host]) else { return [] }
        // Addresses come first, so that a device that learns of the service can connect
        // immediately.
        return addresses.map { .address(host: publication.host, $0) }
            + interfaces.map {
                .service(
                    instance: publication.instance, host: publication.host, port: publication.port, interface: $0)
            }
    }

    /// Retires groups that are no longer wanted. A group whose names stay but whose data changes is
    /// freed before its replacement is created. If both existed, they would conflict.
    private mutating func retire(allBut desired: Set<PublicationGroup>, at now: MonotonicInstant) -> [Action] {
        var actions: [Action] = []
        for index in groups.indices {
            let content = groups[index].content
            if desired.contains(content) {
                if case .retiring = groups[index].state { groups[index].state = .announced }
            } else if isBlocking(content, desired) || publication == nil || refused[content] != nil {
                actions.append(.free(groups[index].id))
            } else if case .retiring = groups[index].state {
                continue
            } else {
                groups[index].state = .retiring(since: now)
            }
        }
        groups.removeAll { actions.contains(.free($0.id)) }
        return actions
    }

    private func isBlocking(_ content: PublicationGroup, _ desired: Set<PublicationGroup>) -> Bool {
        switch content {
        case .service(let instance, _, _, let interface):
            desired.contains {
                guard case .service(instance, _, _, let other) = $0 else { return false }
                return interface == nil || other == nil || interface == other
            }
        case .address(let host, _):
            // The address is gone, but its name stays. Nothing replaces it.
            publication?.host == host
        }
    }

    private mutating func updateTexts(at now: MonotonicInstant) -> [Action] {
        guard now >= textAllowed else { return [] }
        var actions: [Action] = []
        for index in groups.indices where isService(groups[index]) && groups[index].text != text {
            guard case .service(let instance, _, _, let interface) = groups[index].content,
                let name = DomainName("\(instance).\(serviceName.text)")
            else { continue }
            groups[index].text = text
            let record = PublicationGroup.textRecord(name: name, text: text)
            actions.append(.update(groups[index].id, record, interface: interface))
        }
        if !actions.isEmpty { textAllowed = now + PublicationPlan.textInterval }
        return actions
    }

    private mutating func freeRetired(at now: MonotonicInstant) -> [Action] {
        let wait = isReplaced ? PublicationPlan.overlap.min : PublicationPlan.overlap.max
        let over = groups.filter {
            guard case .retiring(let since) = $0.state else { return false }
            return since + wait <= now
        }
        groups.removeAll { group in over.contains { $0.id == group.id } }
        return over.map { .free($0.id) }
    }

    private var isReplaced: Bool { !groups.contains { $0.state == .announcing } }

    /// Returns whether a group belongs to the current service, whose text follows the
    /// publication's.
    private func isService(_ group: Group) -> Bool {
        guard case .service(let instance, _, _, _) = group.content, instance == publication?.instance else {
            return false
        }
        if case .retiring = group.state { return false }
        return true
    }
}

extension InterfaceTable {
    /// Returns the addresses of this machine with which a service is announced.
    func published(by options: DiscoveryOptions) -> [LocalAddress] {
        var count: [UInt32: Int] = [:]
        let addresses = usable.filter { local in
            guard let name = name(of: local.interface), options.accepts(interface: name),
                local.address.isIPv4 ? options.useIPv4 : options.useIPv6, local.address.isUnicast,
                local.address.isLoopback == isLoopback(local.interface)
            else { return false }
            count[local.interface, default: 0] += 1
            return count[local.interface, default: 0] <= PublicationPlan.maxAddresses.interface
        }
        return Array(addresses.prefix(PublicationPlan.maxAddresses.total))
    }
}

extension [LocalAddress] {
    /// The first address of each interface, then the second of each, and so on. Within an
    /// interface, IPv4 comes first, then link-local IPv6. If there is not enough room for all, many
    /// bridges do not displace the local network.
    package var alternating: [LocalAddress] {
        func rank(_ address: IPAddress) -> Int { address.isIPv4 ? 0 : address.isLinkLocal ? 1 : 2 }
        let sorted = enumerated().sorted { one, other in
            (one.element.interface, rank(one.element.address), one.offset)
                < (other.element.interface, rank(other.element.address), other.offset)
        }.map(\.element)
        var rounds: [UInt32: Int] = [:]
        let numbered = sorted.map { local in
            defer { rounds[local.interface, default: 0] += 1 }
            return (round: rounds[local.interface, default: 0], local: local)
        }
        return numbered.enumerated().sorted { one, other in
            (one.element.round, one.offset) < (other.element.round, other.offset)
        }.map(\.element.local)
    }
}
