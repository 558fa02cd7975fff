import LoopIO

/// What the records of an instance say together.
extension ServiceDirectory {
    /// The kinds of addresses that this machine can use.
    var addressKinds: [RecordQuery.Kind] {
        (options.useIPv4 ? [.ipv4] : []) + (options.useIPv6 ? [.ipv6] : [])
    }

    /// Where to ask: everywhere (nil), or on each of the named interfaces that are there.
    var browsedInterfaces: [UInt32?] { interfaces.indexes(of: options.interfaces) }

    /// What to ask for one instance: its text always, unless it is heard, and the rest until it is resolved.
    func queries(for name: String, _ instance: KnownInstance, on interface: UInt32?) -> [RecordQuery] {
        let fullName = "\(name).\(serviceName.text)"
        let text = RecordQuery(
            kind: .text, name: fullName, instance: name, round: instance.textRound, interface: interface)
        guard case .running(let round, _) = instance.resolution else {
            return hears && instance.resolution == .done && !instance.texts.isEmpty ? [] : [text]
        }
        func query(_ kind: RecordQuery.Kind, _ asked: String) -> RecordQuery {
            RecordQuery(kind: kind, name: asked, instance: name, round: round, interface: interface)
        }
        guard let host = target(of: instance)?.host.text else { return [text, query(.target, fullName)] }
        return [text, query(.target, fullName)] + addressKinds.map { query($0, host) }
    }

    func service(_ name: String, _ instance: KnownInstance) -> DiscoveredService {
        DiscoveredService(
            instance: name, text: instance.texts.newest(where: counts), port: target(of: instance)?.port,
            addresses: addresses(of: instance))
    }

    func target(of instance: KnownInstance) -> ServiceTarget? { instance.targets.newest(where: counts) }

    /// Addresses that the link may tell, best first: on-link ones, then link-local ones, then what a router may reach;
    /// among these the newest first, since a forged flood must not displace what is told later by the device itself.
    func addresses(of instance: KnownInstance) -> [SocketAddress] {
        guard let target = target(of: instance) else { return [] }
        var ranked: [(rank: Int, address: SocketAddress)] = []
        for (value, link) in instance.addresses.all(where: counts).reversed() {
            guard value.host == target.host, interfaces.accepts(value.address, on: link.interface),
                !ranked.contains(where: { $0.address.address == value.address.withScope(link.interface) })
            else { continue }
            let address = SocketAddress(value.address.withScope(link.interface), port: target.port)
            let isOnLink = !value.address.isLinkLocal && interfaces.isOnLink(value.address, on: link.interface)
            ranked.append((isOnLink ? 0 : value.address.isLinkLocal ? 1 : 2, address))
        }
        // Sorting is stable, so the newest stay first within a rank.
        return ranked.sorted { $0.rank < $1.rank }.prefix(ServiceDirectory.addressCap).map(\.address)
    }

    /// Whether what a link says counts: it is one of the interfaces to use.
    private func counts(_ link: RecordLink) -> Bool {
        guard let name = interfaces.name(of: link.interface) else { return false }
        return options.accepts(interface: name)
    }
}
