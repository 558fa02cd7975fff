package import HandoffModel
package import Timing

extension PeerTable {
    /// Takes the hello of a device that is live, over a connection that proved who it is.
    ///
    /// - Parameters:
    ///   - address: where the device listens, as far as the connection shows.
    ///   - isProved: whether this side called it there; where it called from is only a candidate.
    package mutating func receivedHello(
        _ hello: Hello, from id: DeviceID, address: PeerAddress?, isProved: Bool = true, isFixed: Bool = false,
        at now: MonotonicInstant
    ) -> [PeerChange] {
        guard id != own else { return [] }
        if let farewell = hello.farewell { return take(farewell, hello, from: id, at: now) }
        var changes: [PeerChange] = []
        // A smaller start number is a restored backup: it learns the greater one from our hello. Also of a device that has gone:
        // if this were forgotten, what it announced in its later start could be announced again by whoever has recorded it.
        guard hello.boot >= seenBoot(of: id) ?? 0 else { return [] }
        if let known = peers[id] {
            changes = greet(known, hello, at: now)
        } else if let trace = traces[id], trace.isFinal,
            !trace.isBefore(Position(boot: hello.boot, seq: hello.seq ?? 0))
        {
            // Its goodbye, by datagram, has overtaken it.
            return []
        } else {
            var peer = Peer(id, hello, at: now)
            if let trace = traces[id], trace.boot == hello.boot { peer.seq = trace.seq }
            endSearch(for: &peer)
            peers[id] = peer
            traces[id] = nil
            changes = [.appeared(id), .moreToFetch(id)]
        }
        if let address {
            if isFixed { peers[id]?.candidates.add(address, source: .fixed, at: now) }
            if isProved {
                peers[id]?.candidates.prove(address, at: now)
            } else {
                peers[id]?.candidates.add(address, source: .datagram, at: now)
            }
        }
        return changes
    }

    /// Takes the whole list of a device's activities, fetched over a connection.
    package mutating func receivedList(
        _ list: ActivityList, from id: DeviceID, at now: MonotonicInstant
    ) -> [PeerChange] {
        guard var peer = peers[id], list.position.boot == peer.boot else { return [] }
        // A list from before the latest announcement knows less than that; the next one is asked for.
        if let seq = peer.listSeq, list.position.seq < seq { return peer.isComplete ? [] : [.moreToFetch(id)] }
        if let listed = peer.listedSeq, list.position.seq < listed { return [] }
        let before = peer.offers
        peer.offers = Peer.offers(list.activities, received: now, expires: now + lifetime).bounded
        peer.listedSeq = list.position.seq
        peer.listSeq = peer.listSeq ?? list.position.seq
        peer.renewed = now
        peers[id] = peer
        return before.hasSameContent(as: peer.offers) ? [] : [.offersChanged(id)]
    }

    /// A device acknowledged one of this device's adverts; the acknowledgement is genuine.
    ///
    /// - Parameter proved: the address that the acknowledgement proves, if it proves one. Only a candidate counts: the device
    ///   may have another port by now.
    /// - Returns: true when the device is there and the advert is one of this start.
    package mutating func receivedAcknowledgement(
        of position: Position, from id: DeviceID, proving proved: PeerAddress?, at now: MonotonicInstant
    ) -> Bool {
        guard var peer = peers[id], position.boot == ownPosition.boot, position <= ownPosition else { return false }
        peer.acknowledged = max(peer.acknowledged ?? position, position)
        if let proved, peer.candidates.ranked.contains(where: { $0.address == proved }) {
            peer.candidates.prove(proved, at: now)
        }
        peers[id] = peer
        return true
    }

    /// A device has this device's announcement by connection.
    package mutating func delivered(_ position: Position, to id: DeviceID) {
        guard let acknowledged = peers[id]?.acknowledged, acknowledged >= position else {
            peers[id]?.acknowledged = position
            return
        }
    }

    /// A connection to or from a device was accepted by both sides.
    package mutating func connectionOpened(_ id: DeviceID) {
        peers[id]?.connectionCount += 1
    }

    /// A connection that was counted has ended; what the device said counts from now, as it was there until now.
    package mutating func connectionClosed(_ id: DeviceID, at now: MonotonicInstant) {
        guard var peer = peers[id], peer.connectionCount > 0 else { return }
        peer.connectionCount -= 1
        peer.renewed = max(peer.renewed, now)
        peers[id] = peer
    }

    /// A configured name of a device stands for these addresses now, instead of for former ones.
    package mutating func resolved(
        _ id: DeviceID, to addresses: [PeerAddress], from former: [PeerAddress], at now: MonotonicInstant
    ) {
        peers[id]?.candidates.replaceFixed(former, by: addresses, at: now)
    }

    /// A call to an address failed: the address has to prove itself again.
    package mutating func addressFailed(_ address: PeerAddress, of id: DeviceID) {
        peers[id]?.candidates.fail(address)
    }

    /// A device ends, and says so over a connection: its datagrams may not have arrived.
    private mutating func take(
        _ farewell: Farewell, _ hello: Hello, from id: DeviceID, at now: MonotonicInstant
    ) -> [PeerChange] {
        lost[id] = nil
        guard let peer = peers[id], hello.boot >= peer.boot else { return [] }
        peers[id]?.boot = hello.boot
        peers[id]?.seq = max(hello.seq ?? 0, hello.boot == peer.boot ? peer.seq ?? 0 : 0)
        return remove(id, saying: farewell, at: now)
    }

    private mutating func greet(_ known: Peer, _ hello: Hello, at now: MonotonicInstant) -> [PeerChange] {
        var peer = known
        let id = known.deviceID
        var changes: [PeerChange] = []
        let isRestart = hello.boot > known.boot
        if isRestart {
            peer.boot = hello.boot
            peer.seq = nil
            peer.listSeq = nil
            peer.listedSeq = nil
            peer.offers = []
            peer.acknowledged = nil
        }
        peer.renewed = now
        // An announcement that has overtaken the hello knows the present label and port.
        let isOvertaken = hello.seq.map { seq in peer.seq.map { seq < $0 } ?? false } ?? false
        if !isOvertaken, peer.update(hello) { changes.append(.changed(id)) }
        if !known.offers.isEmpty, isRestart { changes.append(.offersChanged(id)) }
        if !peer.isComplete { changes.append(.moreToFetch(id)) }
        peers[id] = peer
        return changes
    }
}
