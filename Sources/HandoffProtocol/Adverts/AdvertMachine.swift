package import HandoffModel

/// Decides where and when each device is sent an advert, an acknowledgement or a probe. It handles
/// no bytes: the driver signs once for every change, seals for each receiver and sends.
///
/// The table of devices is passed with every event. The driver keeps both on one thread, updates
/// the table first, and performs the actions after the call. docs/state-machines/advert-machine.md
/// shows the states of one delivery.
package struct AdvertMachine: Sendable {
    /// The minimum time between two adverts to one device: 40 per second. Changes in between are
    /// combined.
    package static let spacing = Duration.milliseconds(25)

    /// The delays between sends until an acknowledgement arrives. After the last one, a connection
    /// is tried.
    package static let repeats: [Duration] = [
        .milliseconds(30), .milliseconds(100), .milliseconds(300), .seconds(1), .seconds(2),
    ]

    /// The maximum wait for an acknowledgement from a device without a proved address, before a
    /// connection is tried.
    package static let greetingTimeout = Duration.seconds(2)

    /// The age at which the current announcement is renewed. Two renewals may be lost before other
    /// devices let it expire.
    package static let renewal = Duration.seconds(240)

    /// The age for renewal while saving power. One renewal may be lost, which the other devices
    /// compensate for with a query.
    package static let slowRenewal = Duration.seconds(480)

    /// The maximum number of unproved addresses of one device to try at a time.
    static let maxGreetings = 4

    var deliveries: [DeviceID: Delivery] = [:]
    var greetings = GreetingLimit()

    /// The age at which the current announcement is renewed now.
    private var renewal: Duration { savesPower ? Self.slowRenewal : Self.renewal }

    /// True to postpone work that is not urgent.
    package var savesPower = false

    /// The time at which the current announcement was made.
    var lastChange: MonotonicInstant

    /// Creates a machine without deliveries. The current announcement was made at `now`.
    package init(at now: MonotonicInstant) {
        lastChange = now
    }

    /// The next time at which ``deadlinePassed(peers:at:)`` has work; nil while no device is online
    /// or searched for.
    package func nextDeadline(peers: PeerTable) -> MonotonicInstant? {
        guard peers.count > 0 || peers.hasLost else { return nil }
        return deliveries.reduce(lastChange + renewal) { next, entry in
            guard let deadline = deadline(of: entry.key, entry.value, peers) else { return next }
            return min(next, deadline)
        }
    }

    private func deadline(of id: DeviceID, _ delivery: Delivery, _ peers: PeerTable) -> MonotonicInstant? {
        if peers.contains(id) { return delivery.deadline }
        return peers.lost(id) == nil ? nil : delivery.search?.due
    }

    /// Returns true if every device has the current advert. A leave message waits for this.
    package func isSettled(peers: PeerTable) -> Bool {
        peers.all.allSatisfy { has($0, peers) }
    }

    /// Handles a change of this device's announcement. The table has the new position.
    ///
    /// - Parameter hasNewOffers: True if the activities changed. Otherwise, the mDNS record is
    ///   sufficient for devices whose own record is visible there.
    package mutating func changed(
        _ hasNewOffers: Bool = true, peers: PeerTable, at now: MonotonicInstant
    ) -> [AdvertAction] {
        lastChange = now
        return peers.all.flatMap { peer -> [AdvertAction] in
            guard hasNewOffers || !has(peer, peers) else { return [] }
            if let last = deliveries[peer.deviceID]?.lastSent, last + Self.spacing > now {
                deliveries[peer.deviceID]?.state = .coalescing(due: last + Self.spacing)
                return []
            }
            return send(to: peer, count: 0, at: now)
        }
    }

    /// Handles the departure of this device, which the latest advert announces. It is sent
    /// immediately to two addresses of each device.
    package mutating func leaving(peers: PeerTable, at now: MonotonicInstant) -> [AdvertAction] {
        lastChange = now
        return peers.all.flatMap { send(to: $0, count: 0, at: now, breadth: 2) }
    }

    /// Handles a device that appeared, returned as a new instance, or has new addresses. The
    /// current advert is sent, unless the device has it or it is in transit to the device's current
    /// label and addresses.
    package mutating func discovered(_ id: DeviceID, peers: PeerTable, at now: MonotonicInstant) -> [AdvertAction] {
        guard let peer = peers[id], !has(peer, peers) else { return [] }
        guard let delivery = deliveries[id], delivery.sealedFor == peer.label else {
            return send(to: peer, count: 0, at: now)
        }
        switch delivery.state {
        case .settled: return send(to: peer, count: 0, at: now)
        case .greeting, .byConnection: return greetMore(peer, at: now)
        case .coalescing, .awaiting: return []
        }
    }

    /// Handles a connection that both sides accepted. The device is online and may lack the current
    /// advert.
    package mutating func connected(_ id: DeviceID, peers: PeerTable, at now: MonotonicInstant) -> [AdvertAction] {
        deliveries[id]?.probe = nil
        guard let peer = peers[id], !has(peer, peers) else { return [] }
        if deliveries[id]?.isBlocked == true { return useConnection(peer) }
        return isInTransit(id) ? [] : send(to: peer, count: 0, at: now)
    }

    /// Handles an advert that arrived in a datagram, with the table's reception result.
    ///
    /// It is acknowledged unless it was stale. A device that is new, or lacks the current advert,
    /// receives it, so that two devices know each other as soon as one does.
    package mutating func receivedAdvert(
        _ announcement: Announcement, label: Label, arrival: AdvertArrival, reception: Reception, peers: PeerTable,
        at now: MonotonicInstant
    ) -> [AdvertAction] {
        let id = announcement.deviceID
        switch reception {
        case .stale, .own:
            return []
        case .repeated:
            let answer = acknowledge(announcement, label: label, arrival, at: now)
            // Datagrams of the device arrive, so the current advert, which no repeat or connection
            // could deliver, may now arrive as well.
            guard let peer = peers[id], !has(peer, peers), !isInTransit(id),
                deliveries[id]?.lastSent.map({ $0 + SearchDelay.minDelay <= now }) ?? true
            else { return answer }
            return answer + send(to: peer, count: 0, at: now)
        case .new(let isFirst, _):
            deliveries[id]?.probe = nil
            let answer = acknowledge(announcement, label: label, arrival, at: now)
            guard let peer = peers[id], !has(peer, peers), isFirst || !isInTransit(id) else { return answer }
            return answer + send(to: peer, count: 0, at: now)
        }
    }

    /// Handles an acknowledgement that the table accepted.
    ///
    /// It proves an address. A change that followed the greeting and had to wait is sent there now.
    package mutating func receivedAcknowledgement(
        from id: DeviceID, peers: PeerTable, at now: MonotonicInstant
    ) -> [AdvertAction] {
        guard let peer = peers[id] else { return [] }
        deliveries[id]?.probe = nil
        deliveries[id]?.isBlocked = false
        guard !has(peer, peers) else {
            deliveries[id]?.state = .settled
            return []
        }
        guard let delivery = deliveries[id], case .coalescing(let due) = delivery.state,
            due > (delivery.lastSent ?? now) + Self.spacing
        else { return [] }
        return send(to: peer, count: 0, at: now)
    }

    /// Records that the current advert, or a reply, was delivered over a connection. The device is
    /// online.
    package mutating func delivered(to id: DeviceID, peers: PeerTable) {
        guard let peer = peers[id] else { return }
        deliveries[id]?.probe = nil
        if has(peer, peers) { deliveries[id]?.state = .settled }
    }

    /// Handles a restart of the device, as announced by its signed announcement. It may be greeted
    /// immediately at any address.
    package mutating func restarted(_ id: DeviceID) {
        greetings.forget(id)
        deliveries[id] = nil
    }

    /// Removes a device that left or became unreachable.
    package mutating func forget(_ id: DeviceID) {
        deliveries[id] = nil
    }

    package mutating func deadlinePassed(peers: PeerTable, at now: MonotonicInstant) -> [AdvertAction] {
        deliveries = deliveries.filter { peers.contains($0.key) || peers.lost($0.key) != nil }
        var actions: [AdvertAction] = []
        for peer in peers.all {
            actions += advance(peer, at: now)
            actions += advanceProbe(peer, at: now)
        }
        actions += advanceSearches(peers: peers, at: now)
        // Renew even if all devices are lost: a lost device that receives nothing new from this one
        // for ten minutes ignores repeats.
        if peers.count > 0 || peers.hasLost, lastChange + renewal <= now {
            lastChange = now  // Request it once, even if the driver is slow.
            actions.append(.renew)
        }
        return actions
    }

    private mutating func advance(_ peer: Peer, at now: MonotonicInstant) -> [AdvertAction] {
        switch deliveries[peer.deviceID]?.state {
        case .coalescing(let due) where due <= now:
            return send(to: peer, count: 0, at: now)
        case .awaiting(let count, let due) where due <= now:
            return count < Self.repeats.count ? send(to: peer, count: count, at: now) : useConnection(peer)
        case .greeting(let due) where due <= now:
            return useConnection(peer)
        case .coalescing, .awaiting, .greeting, .settled, .byConnection, nil:
            return []
        }
    }
}

/// An action for the driver of an ``AdvertMachine``, to perform in the given order.
package enum AdvertAction: Sendable, Equatable {
    /// Seal the latest signed advert for `label` and send it.
    case send(to: PeerAddress, device: DeviceID, label: Label)

    /// Seal an acknowledgement of the device's advert for `label` and send it to the advert's
    /// source.
    case acknowledge(Position, device: DeviceID, label: Label, AdvertArrival)

    /// Datagrams do not arrive. Send another hello, with the current number, on the open connection
    /// to the device or on a new one. Then report ``AdvertMachine/delivered(to:peers:)`` or
    /// ``AdvertMachine/callFailed(to:peers:at:)``.
    case useConnection(DeviceID)

    /// Increment the sequence number, sign and publish again, and report
    /// ``AdvertMachine/changed(peers:at:)``, before other devices let the announcement expire.
    case renew

    /// The device no longer responds. Remove it from the table and call
    /// ``AdvertMachine/forget(_:)``.
    case depart(DeviceID, DepartureReason)
}
