package import HandoffModel
package import Timing

/// Decides which device is sent an advert, an acknowledgement or a probe, where and when. Knows no bytes: the driver
/// signs once for every change, seals for each receiver and sends.
///
/// The table of devices is given with every event; the driver keeps both on one thread, tells the table first, and
/// performs the actions after the call. docs/state-machines/advert-machine.md shows the states of one delivery.
package struct AdvertMachine: Sendable {
    /// Shortest time between two adverts to one device: 40 a second; changes in between are sent as one.
    package static let spacing = Duration.milliseconds(25)

    /// Time from each sending to the next, until acknowledged; after the last one a connection is tried.
    package static let repeats: [Duration] = [
        .milliseconds(30), .milliseconds(100), .milliseconds(300), .seconds(1), .seconds(2),
    ]

    /// Time that a device without a proved address has for its acknowledgement before a connection is tried.
    package static let greetingPatience = Duration.seconds(2)

    /// Age of the present announcement at which it is renewed: two may be lost before it expires at the others.
    package static let renewal = Duration.seconds(240)

    /// The same while power is saved: one may be lost, which a query of the others makes good.
    package static let slowRenewal = Duration.seconds(480)

    /// Unproved addresses of one device that are tried at once.
    static let maxGreetings = 4

    var deliveries: [DeviceID: Delivery] = [:]
    var greetings = GreetingLimit()
    var searches: [DeviceID: Search] = [:]

    /// Age at which the present announcement is renewed now.
    private var renewal: Duration { savesPower ? Self.slowRenewal : Self.renewal }

    /// Whether what can wait does.
    package var savesPower = false

    /// When the present announcement was made.
    var lastChange: MonotonicInstant

    /// Starts without deliveries; the present announcement was made at `now`.
    package init(at now: MonotonicInstant) {
        lastChange = now
    }

    /// The next moment at which ``deadlinePassed(peers:at:)`` has something to do; nil while no device is online or searched for.
    package func nextDeadline(peers: PeerTable) -> MonotonicInstant? {
        guard peers.count > 0 || !peers.lost.isEmpty else { return nil }
        let renewal = lastChange + renewal
        let next = deliveries.reduce(renewal) { next, entry in
            guard let deadline = entry.value.deadline, peers.contains(entry.key) else { return next }
            return min(next, deadline)
        }
        return searches.reduce(next) { peers.lost[$1.key] == nil ? $0 : min($0, $1.value.due) }
    }

    /// True when every device has the present advert, as a goodbye waits for.
    package func isSettled(peers: PeerTable) -> Bool {
        peers.all.allSatisfy { has($0, peers) }
    }

    /// This device's announcement changed; the table has the new position.
    ///
    /// - Parameter hasNewOffers: whether its activities have. Else the record in mDNS is enough for those whose own record is
    ///   seen there.
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

    /// This device is leaving, and the latest advert says so: it goes out at once, to two addresses of each device.
    package mutating func leaving(peers: PeerTable, at now: MonotonicInstant) -> [AdvertAction] {
        lastChange = now
        return peers.all.flatMap { send(to: $0, count: 0, at: now, breadth: 2) }
    }

    /// A device became known, came back as another, or has addresses that are new: it is sent the present advert,
    /// unless it has that, or it is on its way to the label and addresses that the device has now.
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

    /// A connection with the device was accepted by both sides: it is there, and may lack the present advert.
    package mutating func connected(_ id: DeviceID, peers: PeerTable, at now: MonotonicInstant) -> [AdvertAction] {
        deliveries[id]?.probe = nil
        guard let peer = peers[id], !has(peer, peers) else { return [] }
        if deliveries[id]?.isBlocked == true { return useConnection(peer) }
        return isUnderWay(id) ? [] : send(to: peer, count: 0, at: now)
    }

    /// A datagram with an advert was taken by the table with this result.
    ///
    /// It is acknowledged unless it was stale; a device that is new, or has not got the present advert, is sent it,
    /// so that two devices know each other as soon as one does.
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
            // Datagrams of the device arrive, so the present advert, which no repeat or call could deliver, may get through.
            guard let peer = peers[id], !has(peer, peers), !isUnderWay(id),
                deliveries[id]?.lastSent.map({ $0 + SearchDelay.shortest <= now }) ?? true
            else { return answer }
            return answer + send(to: peer, count: 0, at: now)
        case .new(let isFirst, _):
            deliveries[id]?.probe = nil
            let answer = acknowledge(announcement, label: label, arrival, at: now)
            guard let peer = peers[id], !has(peer, peers), isFirst || !isUnderWay(id) else { return answer }
            return answer + send(to: peer, count: 0, at: now)
        }
    }

    /// An acknowledgement was taken by the table.
    ///
    /// It proves an address: a change that came after the greeting and had to wait before the next one goes there now.
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

    /// The present advert, or an answer, went over a connection: the device is there.
    package mutating func delivered(to id: DeviceID, peers: PeerTable) {
        guard let peer = peers[id] else { return }
        deliveries[id]?.probe = nil
        if has(peer, peers) { deliveries[id]?.state = .settled }
    }

    /// The device has started anew, as its signed announcement says: it is greeted at once, at whatever address.
    package mutating func restarted(_ id: DeviceID) {
        greetings.forget(id)
        deliveries[id] = nil
    }

    /// The device has gone.
    package mutating func forget(_ id: DeviceID) {
        deliveries[id] = nil
    }

    /// Time has come to ``nextDeadline(peers:)``.
    package mutating func deadlinePassed(peers: PeerTable, at now: MonotonicInstant) -> [AdvertAction] {
        deliveries = deliveries.filter { peers.contains($0.key) }
        var actions: [AdvertAction] = []
        for peer in peers.all {
            actions += advance(peer, at: now)
            actions += advanceProbe(peer, at: now)
        }
        actions += advanceSearches(peers: peers, at: now)
        // Also where all are lost: a lost device that receives nothing new of this one for ten minutes ignores what is repeated.
        if peers.count > 0 || !peers.lost.isEmpty, lastChange + renewal <= now {
            lastChange = now  // Asked for once, even if the driver is slow.
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

/// What the driver of an ``AdvertMachine`` is to do, in the order given.
package enum AdvertAction: Sendable, Equatable {
    /// Seal the latest signed advert for `label` and send it.
    case send(to: PeerAddress, device: DeviceID, label: Label)

    /// Seal an acknowledgement of the device's advert for `label` and send it to where the advert was sent from.
    case acknowledge(Position, device: DeviceID, label: Label, AdvertArrival)

    /// Datagrams do not get through: say hello again, with the present number, on the open connection to the device, or first on a
    /// new one; then report ``AdvertMachine/delivered(to:peers:)`` or ``AdvertMachine/callFailed(to:peers:at:)``.
    case useConnection(DeviceID)

    /// Raise the sequence number, sign and publish anew, and report ``AdvertMachine/changed(peers:at:)``: what was
    /// announced would expire at the others.
    case renew

    /// The device does not answer any more: take it out of the table and ``AdvertMachine/forget(_:)`` it.
    case depart(DeviceID, DepartureReason)
}
