import LoopIO

/// The information that the records of an instance give together.
extension ServiceDirectory {
    /// The address record types that this machine can use.
    var addressKinds: [RecordQuery.Kind] {
        (options.useIPv4 ? [.ipv4] : []) + (options.useIPv6 ? [.ipv6] : [])
    }

    /// The interfaces to query: nil for all, or each named interface that exists.
    var browsedInterfaces: [UInt32?] { interfaces.indexes(of: options.interfaces) }

    /// Returns the queries for one instance: its text always, unless it is received without a
    /// query, and the rest until it is resolved.
    func queries(for name: String, _ instance: KnownInstance, on interface: UInt32?) -> [RecordQuery] {
        let fullName = "\(name).\(serviceName.text)"
        let text = RecordQuery(
            kind: .text, name: fullName, instance: name, round: instance.textRound, interface: interface)
        guard case .running(let round, _) = instance.resolution else {
            return hears && instance.resolution == .done && !instance.texts.isEmpty ? [] : [text]
        }
        func query(_ kind: RecordQuery.Kind, _ recordName: String) -> RecordQuery {
            RecordQuery(kind: kind, name: recordName, instance: name, round: round, interface: interface)
        }
        guard let host = target(of: instance)?.host.text else { return [text, query(.target, fullName)] }
        return [text, query(.target, fullName)] + addressKinds.map { query($0, host) }
    }

    func service(_ name: String, _ instance: KnownInstance) -> DiscoveredService {
        DiscoveredService(
            instance: name, text: instance.texts.newest(where: isAccepted), port: target(of: instance)?.port,
            addresses: addresses(of: instance))
    }

    func target(of instance: KnownInstance) -> ServiceTarget? { instance.targets.newest(where: isAccepted) }

    /// Returns the acceptable addresses, best first: on-link, then link-local, then those that a
    /// router may reach. Within each group, the newest come first, so that a forged flood cannot
    /// displace the address that the device itself announces later.
    func addresses(of instance: KnownInstance) -> [SocketAddress] {
        guard let target = target(of: instance) else { return [] }
        var ranked: [(rank: Int, address: SocketAddress)] = []
        for (value, link) in instance.addresses.all(where: isAccepted).reversed() {
            guard value.host == target.host, interfaces.accepts(value.address, on: link.interface),
                !ranked.contains(where: { $0.address.address == value.address.withScope(link.interface) })
            else { continue }
            let address = SocketAddress(value.address.withScope(link.interface), port: target.port)
            let isOnLink = !value.address.isLinkLocal && interfaces.isOnLink(value.address, on: link.interface)
            ranked.append((isOnLink ? 0 : value.address.isLinkLocal ? 1 : 2, address))
        }
        // Sorting is stable, so the newest stay first within a rank.
        return ranked.sorted { $0.rank < $1.rank }.prefix(ServiceDirectory.maxAddresses).map(\.address)
    }

    /// Returns whether records on a link are used: its interface must be one of those to use.
    private func isAccepted(_ link: RecordLink) -> Bool {
        guard let name = interfaces.name(of: link.interface) else { return false }
        return options.accepts(interface: name)
    }
}
