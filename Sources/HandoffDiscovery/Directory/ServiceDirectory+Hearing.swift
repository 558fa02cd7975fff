package import LoopIO

/// Handles records received without a query: each device announces its records and renews its text.
extension ServiceDirectory {
    /// Handles a response or announcement, after its PTR records have been reported.
    ///
    /// - Parameter source: The sender. As in Avahi (RFC 6762 section 11), only packets from the
    ///   link itself are accepted.
    package mutating func heard(_ packet: MulticastPacket, on link: RecordLink, from source: IPAddress) {
        guard hears, packet.isResponse, source.isLinkLocal || interfaces.isOnLink(source, on: link.interface) else {
            return
        }
        var hosts: [String: String] = [:]
        // Handle host names before addresses, because sections may have them in any order.
        for record in packet.records where record.kind == .target || record.kind == .text {
            guard record.lifetime > 0, let name = record.owner.flatMap(listedInstance), let data = record.data else {
                continue
            }
            receive(record.kind, of: name, data, on: link)
            if let host = instances[name].flatMap(target)?.host.text { hosts[host] = name }
        }
        for record in packet.records where record.kind == .ipv4 || record.kind == .ipv6 {
            guard let owner = record.owner, let name = hosts[owner], let host = DomainName(owner),
                let address = record.data.flatMap({ IPAddress(bytes: $0) }), address.isIPv4 == (record.kind == .ipv4)
            else { continue }
            let value = KnownInstance.HostAddress(host: host, address: address)
            if record.lifetime == 0 {
                instances[name]?.addresses.remove(value, on: link)
            } else {
                let round = round(of: name)
                instances[name]?.addresses.insert(value, on: link, round: round)
                markReceived(record.kind, of: name)
            }
        }
    }

    private mutating func receive(_ kind: RecordQuery.Kind?, of name: String, _ data: [UInt8], on link: RecordLink) {
        if kind == .text {
            guard let strings = TextData.decode(data) else { return }
            if instances[name]?.texts.isEmpty == true { isWantedStale = true }
            let round = instances[name]?.textRound ?? 0
            instances[name]?.texts.replace(with: strings, on: link, round: round)
        } else {
            guard let target = ServiceTarget(data: data) else { return }
            if instances[name].flatMap(self.target) != target { isWantedStale = true }
            let round = round(of: name)
            instances[name]?.targets.replace(with: target, on: link, round: round)
            instances[name]?.addresses.keep { $0.host == target.host }
        }
        markReceived(kind, of: name)
    }

    private mutating func markReceived(_ kind: RecordQuery.Kind?, of name: String) {
        if let kind { instances[name]?.receivedKinds.insert(kind) }
        changed.insert(name)
    }

    /// Returns the known instance of a record, if it is browsed or about to be. Nothing is kept for
    /// the others.
    private func listedInstance(_ owner: String) -> String? {
        guard owner.hasSuffix(instanceSuffix) else { return nil }
        let name = String(owner.dropLast(instanceSuffix.utf8.count))
        guard let instance = instances[name], !isCrowded || instance.isMember || instance.isChosen else { return nil }
        return name
    }

    /// Returns the current round, to which received records belong.
    private func round(of name: String) -> UInt32 {
        if case .running(let round, _) = instances[name]?.resolution { round } else { 0 }
    }
}
