import HandoffModel
import Timing

extension AdvertMachine {
    /// True when the device has acknowledged, or was given, an advert with the present activities. All else that the present one
    /// says stands in the record in mDNS; a device that was not seen there, or may not take it, is sent all.
    func has(_ peer: Peer, _ peers: PeerTable) -> Bool {
        guard let acknowledged = peer.acknowledged else { return false }
        guard peer.readsRecords, !peer.instances.isEmpty else { return acknowledged >= peers.ownPosition }
        return acknowledged >= Position(boot: peers.ownPosition.boot, seq: peers.ownListSeq)
    }

    /// True when the present advert is on its way to the device, so that nothing new needs to be sent.
    func isUnderWay(_ id: DeviceID) -> Bool {
        switch deliveries[id]?.state {
        case .coalescing, .awaiting, .greeting, .byConnection: true
        case .settled, nil: false
        }
    }

    /// Sends the present advert, for the `count`-th time after the first.
    ///
    /// The best proved address alone gets it at first; from the second repeat on every address does. Where nothing is
    /// proved, a few addresses get it once. `breadth` is the number of proved addresses at first.
    mutating func send(to peer: Peer, count: Int, at now: MonotonicInstant, breadth: Int = 1) -> [AdvertAction] {
        let id = peer.deviceID
        var delivery = deliveries[id] ?? Delivery()
        let ranked = peer.candidates.ranked
        guard let label = peer.label, !ranked.isEmpty else {
            if peer.connectionCount > 0 { return useConnection(peer) }
            // Its addresses are still to come; the next discovery sends.
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
        // Nothing is proved, and no address may be greeted again so soon: an open connection spares the wait.
        if targets.isEmpty, peer.connectionCount > 0 { return useConnection(peer) }
        if !targets.isEmpty { delivery.lastSent = now }
        delivery.sealedFor = label
        let wasBlocked = delivery.isBlocked
        delivery.state = nextState(after: targets, isProved: !proved.isEmpty, count: count, peer: peer, at: now)
        deliveries[id] = delivery
        let actions = targets.map { AdvertAction.send(to: $0, device: id, label: label) }
        // One datagram still goes out, to notice when they get through again.
        return wasBlocked && (!proved.isEmpty || peer.connectionCount > 0) ? actions + useConnection(peer) : actions
    }

    /// Greets the addresses of a device that became known after the first greeting.
    mutating func greetMore(_ peer: Peer, at now: MonotonicInstant) -> [AdvertAction] {
        guard let label = peer.label else { return [] }
        let others = peer.candidates.ranked.filter { $0.proved == nil }.prefix(Self.maxGreetings)
        return others.filter { greetings.admit(peer.deviceID, $0, at: now) }
            .map { .send(to: $0.address, device: peer.deviceID, label: label) }
    }

    /// Gives the present advert to a connection, where there can be one.
    mutating func useConnection(_ peer: Peer) -> [AdvertAction] {
        var delivery = deliveries[peer.deviceID] ?? Delivery()
        delivery.state = .byConnection
        delivery.sealedFor = peer.label
        delivery.isBlocked = true
        deliveries[peer.deviceID] = delivery
        guard peer.connectionCount > 0 || !peer.candidates.ranked.isEmpty else { return [] }
        return [.useConnection(peer.deviceID)]
    }

    /// Answers an advert, to where it came from, as often as the limit lets.
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
        if !targets.isEmpty { return .greeting(due: now + Self.greetingPatience) }
        let candidates = peer.candidates.ranked.prefix(Self.maxGreetings)
        let next = candidates.compactMap { greetings.nextAllowed(peer.deviceID, $0, at: now) }.min()
        guard let next else { return .settled }  // No address at all: the next discovery sends.
        return .coalescing(due: next)
    }
}
