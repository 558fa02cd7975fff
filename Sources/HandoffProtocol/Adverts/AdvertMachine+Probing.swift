package import HandoffModel

extension AdvertMachine {
    /// Handles the removal of a device's service from mDNS, which any host can cause. The device is
    /// probed unless it reappears under another label within a moment. After a change of the
    /// account key, all devices use new labels, which each device can read only once it has the
    /// key.
    package mutating func instanceRemoved(_ id: DeviceID, peers: PeerTable, at now: MonotonicInstant) -> [AdvertAction]
    {
        guard peers[id] != nil else { return [] }
        switch deliveries[id]?.probe {
        case .asking, .calling: return []
        case nil:
            let earliest = deliveries[id]?.lastProbe.map { $0 + Probe.interval } ?? now
            let due = max(now + Probe.timeout, earliest)
            deliveries[id, default: Delivery()].probe = .asking(steps: 0, sent: 0, due: due, hasFailedCall: false)
            return []
        }
    }

    /// Handles a failed connection attempt to every address of the device. Together with one
    /// unanswered probe, this makes it unreachable.
    package mutating func callFailed(to id: DeviceID, peers: PeerTable, at now: MonotonicInstant) -> [AdvertAction] {
        deliveries[id]?.search?.isCalling = false
        guard let peer = peers[id] else { return [] }
        if deliveries[id]?.state == .byConnection { deliveries[id]?.state = .settled }
        switch deliveries[id]?.probe {
        case .calling:
            return peer.connectionCount == 0 ? depart(peer) : []
        case .asking(let steps, let sent, let due, _):
            let earliest = deliveries[id]?.lastProbe.map { $0 + Probe.interval } ?? now
            let next = steps == 0 ? min(due, max(now, earliest)) : due
            deliveries[id]?.probe = .asking(steps: steps, sent: sent, due: next, hasFailedCall: true)
            return []
        case nil:
            return probe(peer, hasFailedCall: true, at: now)
        }
    }

    /// Handles a lost connection to the device. The device is probed, or is unreachable if a
    /// connection attempt had already failed.
    package mutating func connectionCut(_ id: DeviceID, peers: PeerTable, at now: MonotonicInstant) -> [AdvertAction] {
        guard let peer = peers[id] else { return [] }
        switch deliveries[id]?.probe {
        case .calling: return peer.connectionCount == 0 ? depart(peer) : []
        case .asking: return []
        case nil: return probe(peer, hasFailedCall: false, at: now)
        }
    }

    /// Ends the probe, because the device did something that only it can do, such as a handshake.
    package mutating func heard(_ id: DeviceID) {
        deliveries[id]?.probe = nil
    }

    /// Performs the next step of a probe, or decides its outcome.
    mutating func advanceProbe(_ peer: Peer, at now: MonotonicInstant) -> [AdvertAction] {
        guard case .asking(let steps, let sent, let due, let hasFailedCall) = deliveries[peer.deviceID]?.probe,
            due <= now
        else { return [] }
        if steps == 0, !hasFailedCall, peer.isAnnounced {
            deliveries[peer.deviceID]?.probe = nil
            return []
        }
        if steps > 0, hasFailedCall, peer.connectionCount == 0 { return depart(peer) }
        if steps < Probe.waits.count {
            return sendProbe(peer, steps: steps, sent: sent, hasFailedCall: hasFailedCall, at: now)
        }
        let datagramsArrive = peer.acknowledged != nil && deliveries[peer.deviceID]?.isBlocked == false
        if sent == steps, datagramsArrive, peer.connectionCount == 0 { return depart(peer) }
        deliveries[peer.deviceID]?.probe = .calling
        return [.useConnection(peer.deviceID)]
    }

    private mutating func probe(_ peer: Peer, hasFailedCall: Bool, at now: MonotonicInstant) -> [AdvertAction] {
        var delivery = deliveries[peer.deviceID] ?? Delivery()
        let earliest = delivery.lastProbe.map { $0 + Probe.interval } ?? now
        guard earliest <= now else {
            delivery.probe = .asking(steps: 0, sent: 0, due: earliest, hasFailedCall: hasFailedCall)
            deliveries[peer.deviceID] = delivery
            return []
        }
        deliveries[peer.deviceID] = delivery
        return sendProbe(peer, steps: 0, sent: 0, hasFailedCall: hasFailedCall, at: now)
    }

    /// Sends one probe: the latest advert, to the best permitted address.
    private mutating func sendProbe(
        _ peer: Peer, steps: Int, sent: Int, hasFailedCall: Bool, at now: MonotonicInstant
    ) -> [AdvertAction] {
        let id = peer.deviceID
        var actions: [AdvertAction] = []
        if let label = peer.label {
            let ranked = peer.candidates.ranked
            let proved = ranked.first { $0.proved != nil }?.address
            let target = proved ?? ranked.first { greetings.admit(id, $0, at: now) }?.address
            if let target { actions = [.send(to: target, device: id, label: label)] }
        }
        if steps == 0 { deliveries[id]?.lastProbe = now }
        if !actions.isEmpty { deliveries[id]?.lastSent = now }
        deliveries[id]?.probe = .asking(
            steps: steps + 1, sent: sent + actions.count, due: now + Probe.waits[min(steps, Probe.waits.count - 1)],
            hasFailedCall: hasFailedCall)
        return actions
    }

    private mutating func depart(_ peer: Peer) -> [AdvertAction] {
        deliveries[peer.deviceID] = nil
        return [.depart(peer.deviceID, .unreachable)]
    }
}
