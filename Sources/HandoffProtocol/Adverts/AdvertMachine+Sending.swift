import HandoffModel

extension AdvertMachine {
    /// Returns true if the device acknowledged, or received by connection, an advert with the
    /// current activities. The mDNS record contains everything else in the current advert. A device
    /// that was not detected there, or that may not accept records, needs the full advert.
    func has(_ peer: Peer, _ peers: PeerTable) -> Bool {
        guard let acknowledged = peer.acknowledged else { return false }
        guard peer.readsRecords, !peer.instances.isEmpty else { return acknowledged >= peers.ownPosition }
        return acknowledged >= Position(generation: peers.ownPosition.generation, seq: peers.ownListSeq)
    }

    /// Returns true if the current advert is being delivered to the device, so that nothing needs
    /// to be sent.
    func isInTransit(_ id: DeviceID) -> Bool {
        switch deliveries[id]?.state {
        case .coalescing, .awaiting, .greeting, .byConnection: true
        case .settled, nil: false
        }
    }

    /// Sends the current advert. `count` is the number of earlier sends.
    ///
    /// At first, only the best proved address receives it. From the second repeat on, every address
    /// does. If no address is proved, a few addresses receive it once. `breadth` is the initial
    /// number of proved addresses.
    mutating func send(to peer: Peer, count: Int, at now: MonotonicInstant, breadth: Int = 1) -> [AdvertAction] {
        let id = peer.deviceID
        var delivery = deliveries[id] ?? Delivery()
        let ranked = peer.candidates.ranked
        guard let label = peer.label, !ranked.isEmpty else {
            if peer.connectionCount > 0 { return useConnection(peer) }
            // Its addresses are not known yet. The next discovery sends the advert.
            delivery.state = .settled
            deliveries[id] = delivery
            return []
        }
        let proved = ranked.filter { $0.proved != nil }.map(\.address)
        let others = ranked.filter { $0.proved == nil }.prefix(Self.maxGreetings)
        var targets = Array(count >= 2 ? proved[...] : proved.prefix(breadth))
        if proved.isEmpty || count >= 2 {
            targets += others.filter { greetings.admit(id, $0, at: now) }.map(\.address)
        }
        // No address is proved, and none may be greeted again yet. An open connection avoids the
        // delay.
        if targets.isEmpty, peer.connectionCount > 0 { return useConnection(peer) }
        if !targets.isEmpty { delivery.lastSent = now }
        delivery.sealedFor = label
        let wasBlocked = delivery.isBlocked
        delivery.state = nextState(after: targets, isProved: !proved.isEmpty, count: count, peer: peer, at: now)
        deliveries[id] = delivery
        let actions = targets.map { AdvertAction.send(to: $0, device: id, label: label) }
        // One datagram is still sent, to detect when datagrams arrive again.
        return wasBlocked && (!proved.isEmpty || peer.connectionCount > 0) ? actions + useConnection(peer) : actions
    }

    /// Greets the addresses of a device that became known after the first greeting.
    mutating func greetMore(_ peer: Peer, at now: MonotonicInstant) -> [AdvertAction] {
        guard let label = peer.label else { return [] }
        let others = peer.candidates.ranked.filter { $0.proved == nil }.prefix(Self.maxGreetings)
        return others.filter { greetings.admit(peer.deviceID, $0, at: now) }
            .map { .send(to: $0.address, device: peer.deviceID, label: label) }
    }

    /// Requests delivery of the current advert by connection, if a connection is possible.
    mutating func useConnection(_ peer: Peer) -> [AdvertAction] {
        var delivery = deliveries[peer.deviceID] ?? Delivery()
        delivery.state = .byConnection
        delivery.sealedFor = peer.label
        delivery.isBlocked = true
        deliveries[peer.deviceID] = delivery
        guard peer.connectionCount > 0 || !peer.candidates.ranked.isEmpty else { return [] }
        return [.useConnection(peer.deviceID)]
    }

    /// Acknowledges an advert to its source, as often as the limit permits.
    mutating func acknowledge(
        _ announcement: Announcement, label: Label, _ arrival: AdvertArrival, at now: MonotonicInstant
    ) -> [AdvertAction] {
        let id = announcement.deviceID
        var delivery = deliveries[id] ?? Delivery()
        defer { deliveries[id] = delivery }
        guard delivery.acknowledgements.admit(at: now) else { return [] }
        return [.acknowledge(announcement.position, device: id, label: label, arrival)]
    }

    private func nextState(
        after targets: [PeerAddress], isProved: Bool, count: Int, peer: Peer, at now: MonotonicInstant
    ) -> Delivery.State {
        if isProved {
            let wait = Self.repeats[min(count, Self.repeats.count - 1)]
            return .awaiting(count: count + 1, due: now + wait)
        }
        if !targets.isEmpty { return .greeting(due: now + Self.greetingTimeout) }
        let candidates = peer.candidates.ranked.prefix(Self.maxGreetings)
        let next = candidates.compactMap { greetings.nextAllowed(peer.deviceID, $0, at: now) }.min()
        guard let next else { return .settled }  // No address: the next discovery sends the advert.
        return .coalescing(due: next)
    }
}
