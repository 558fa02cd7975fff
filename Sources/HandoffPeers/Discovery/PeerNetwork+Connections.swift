import HandoffAccount
import HandoffLog
package import HandoffModel
package import HandoffProtocol
import HandoffState
package import LoopIO

/// What connections tell of the other devices.
extension PeerNetwork {
    /// The ways to a device, the most promising one first: where it was heard, and where it was seen by a mark, which anyone can
    /// repeat. A member that does not know this device yet opens only to an introduction.
    ///
    /// - Parameter isForRoster: a member in another epoch is looked for first where it was seen by a mark.
    package func ways(to id: DeviceID, isForRoster: Bool = false) -> [LinkPool.Way] {
        let ways = allWays(to: id)
        guard !isForRoster, missing.hasHeard(id), let seen = presentSighting(of: id) else { return ways }
        return ways.filter { $0.label != seen.way.label } + ways.filter { $0.label == seen.way.label }
    }

    private func allWays(to id: DeviceID) -> [LinkPool.Way] {
        var ways = presentSighting(of: id).map { [$0.way] } ?? []
        let pairwise = missing.pairwise.keys[.device(id)]
        if let way = ways.first, way.isIntroduction, let pairwise {
            // It may have let this device in, and the connection may have broken before the account key came.
            ways.append(
                LinkPool.Way(label: way.label, addresses: way.addresses, gate: pairwise.gate, isIntroduction: false))
        }
        if let peer = table[id], let label = peer.label, let held = snapshot.held {
            let addresses = peer.candidates.ranked.compactMap { SocketAddress($0.address) }
            guard !addresses.isEmpty else { return ways }
            if label != ways.first?.label, let pairwise {
                ways.append(
                    LinkPool.Way(label: label, addresses: addresses, gate: pairwise.gate, isIntroduction: false))
            }
            ways.append(LinkPool.Way(label: label, addresses: addresses, gate: held.gate, isIntroduction: true))
        }
        return ways
    }

    /// Where a member was seen by a mark that is still fresh.
    func presentSighting(of id: DeviceID) -> Sighting? {
        sightings[id].flatMap { now < $0.expires ? $0 : nil }
    }

    /// Both sides of a connection have accepted each other.
    package func linkEstablished(_ link: PeerLink, _ hello: Hello) {
        let isKnown = table[link.device] != nil
        takeHello(hello, over: link)
        table.connectionOpened(link.device)
        if !isKnown { log.info("Device is there", ["device": link.device.short, "via": "connection"]) }
        perform(machine.connected(link.device, peers: table, at: now))
    }

    /// What a device says of itself over a connection.
    package func takeHello(_ hello: Hello, over link: PeerLink) {
        // Where it called from is its own host, but the port is another one than it listens on.
        let address = link.isClient ? link.address : link.address?.withPort(hello.port)
        let changes = table.receivedHello(
            hello, from: link.device, address: address.flatMap(PeerAddress.init), isProved: link.isClient,
            isFixed: link.isFixed, at: now)
        missing.heard(link.device, under: hello.label, snapshot)
        if hello.epoch != nil, hello.epoch == snapshot.epochName { delegate?.heard(link.device) }
        handle(changes)
    }

    /// The name of a device that is there was looked up.
    ///
    /// - Parameter former: what it stood for before.
    func resolved(_ id: DeviceID, to addresses: [SocketAddress], from former: [SocketAddress]) {
        table.resolved(
            id, to: addresses.compactMap(PeerAddress.init), from: former.compactMap(PeerAddress.init), at: now)
        delegate?.addressesMayDiffer(of: id)
    }

    /// Nobody answered a call to an address of a device.
    package func unanswered(_ id: DeviceID, at address: SocketAddress) {
        guard let address = PeerAddress(address) else { return }
        table.addressFailed(address, of: id)
    }

    /// A connection has ended; only those that were established were counted.
    package func linkEnded(_ link: PeerLink) {
        guard link.peerHello != nil else {
            guard link.isClient, link.trouble != nil else { return }
            return perform(machine.callFailed(to: link.device, peers: table, at: now))
        }
        table.connectionClosed(link.device, at: now)
        // One that was cut leaves the question whether its device is still there.
        perform(link.wasCut ? machine.connectionCut(link.device, peers: table, at: now) : [])
    }

    /// The whole list of a device's activities.
    package func receivedList(_ list: ActivityList, from device: DeviceID) {
        handle(table.receivedList(list, from: device, at: now))
    }

    /// An announcement was sealed with the key that is held: its device has that key.
    func noteKeyHolder(_ device: DeviceID) {
        if snapshot.isCurrent { delegate?.heard(device) }
    }

    /// The machine has told what it is.
    package func setKind(_ kind: DeviceKind) {
        announcer.setKind(kind)
        say(renewed: .offers)
        beacons.changed()
    }

    /// Tells a device by connection what this device says of itself.
    func deliverByConnection(to id: DeviceID) {
        guard !isCloned, !isSilent else { return }
        let position = announcer.position
        delegate?.deliver(to: id) { [self] isReached in
            guard isReached else { return perform(machine.callFailed(to: id, peers: table, at: now)) }
            table.delivered(position, to: id)
            machine.delivered(to: id, peers: table)
            rearm()
        }
    }
}
