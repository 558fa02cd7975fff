package import HandoffModel

extension PeerTable {
    /// Handles the hello of a live device, over a connection that proved its identity.
    ///
    /// - Parameters:
    ///   - address: The address at which the device listens, as far as the connection shows.
    ///   - isProved: True if this device connected to that address. The source of an incoming
    ///     connection is only a candidate.
    package mutating func receivedHello(
        _ hello: Hello, from id: DeviceID, address: PeerAddress?, isProved: Bool = true, isFixed: Bool = false,
        at now: MonotonicInstant
    ) -> [PeerChange] {
        guard id != own else { return [] }
        if let leaveReason = hello.leaveReason { return handleLeave(leaveReason, hello, from: id, at: now) }
        var changes: [PeerChange] = []
        // A smaller generation is a restored backup, which learns the greater one from our hello.
        // This also applies to a device that is offline: if this were forgotten, an attacker who
        // recorded the announcements of its later generation could replay them.
        guard hello.generation >= seenGeneration(of: id) ?? 0 else { return [] }
        if let known = peers[id] {
            changes = update(known, hello, at: now)
        } else if let trace = traces[id], trace.isFinal,
            !trace.isBefore(Position(generation: hello.generation, seq: hello.seq ?? 0))
        {
            // Its leave message arrived first, in a datagram.
            return []
        } else {
            var peer = Peer(id, hello, at: now)
            if let trace = traces[id], trace.generation == hello.generation { peer.seq = trace.seq }
            restore(peer)
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

    /// Handles the whole list of a device's activities, fetched over a connection.
    package mutating func receivedList(
        _ list: ActivityList, from id: DeviceID, at now: MonotonicInstant
    ) -> [PeerChange] {
        guard var peer = peers[id], list.position.generation == peer.generation else { return [] }
        // A list from before the latest announcement is outdated. Request the next one.
        if let seq = peer.listSeq, list.position.seq < seq { return peer.isComplete ? [] : [.moreToFetch(id)] }
        if let listed = peer.listedSeq, list.position.seq < listed { return [] }
        let before = peer.offers
        peer.offers = peer.offers(list.activities, received: now, expires: now + lifetime).bounded
        peer.listedSeq = list.position.seq
        peer.listSeq = peer.listSeq ?? list.position.seq
        peer.renewed = now
        peers[id] = peer
        return before.hasSameContent(as: peer.offers) ? [] : [.offersChanged(id)]
    }

    /// Handles a genuine acknowledgement of one of this device's adverts.
    ///
    /// - Parameter proved: The address that the acknowledgement proves, if any. It must be a
    ///   candidate, because the device may have another port now.
    /// - Returns: True if the device is online and the advert is of this generation.
    package mutating func receivedAcknowledgement(
        of position: Position, from id: DeviceID, proving proved: PeerAddress?, at now: MonotonicInstant
    ) -> Bool {
        guard var peer = peers[id], position.generation == ownPosition.generation, position <= ownPosition else {
            return false
        }
        peer.acknowledged = max(peer.acknowledged ?? position, position)
        if let proved, peer.candidates.ranked.contains(where: { $0.address == proved }) {
            peer.candidates.prove(proved, at: now)
        }
        peers[id] = peer
        return true
    }

    /// Records that a device received this device's announcement by connection.
    package mutating func delivered(_ position: Position, to id: DeviceID) {
        guard let acknowledged = peers[id]?.acknowledged, acknowledged >= position else {
            peers[id]?.acknowledged = position
            return
        }
    }

    /// Records a connection to or from a device that both sides accepted.
    package mutating func connectionOpened(_ id: DeviceID) {
        peers[id]?.connectionCount += 1
    }

    /// Records the end of a counted connection. The device's announcements count as renewed now,
    /// because it was online until now.
    package mutating func connectionClosed(_ id: DeviceID, at now: MonotonicInstant) {
        guard var peer = peers[id], peer.connectionCount > 0 else { return }
        peer.connectionCount -= 1
        peer.renewed = max(peer.renewed, now)
        peers[id] = peer
    }

    /// Handles new addresses of a device's configured name, which replace the former ones.
    package mutating func resolved(
        _ id: DeviceID, to addresses: [PeerAddress], from former: [PeerAddress], at now: MonotonicInstant
    ) {
        peers[id]?.candidates.replaceFixed(former, by: addresses, at: now)
    }

    /// Handles a failed connection attempt to an address, which must be proved again.
    package mutating func addressFailed(_ address: PeerAddress, of id: DeviceID) {
        peers[id]?.candidates.fail(address)
    }

    /// Handles a device that announces over a connection that it is leaving. Its datagrams may not
    /// have arrived.
    private mutating func handleLeave(
        _ leaveReason: LeaveReason, _ hello: Hello, from id: DeviceID, at now: MonotonicInstant
    ) -> [PeerChange] {
        traces[id]?.unreachable = nil
        guard let peer = peers[id], hello.generation >= peer.generation else { return [] }
        // A connection may deliver the last message before sleep after the announcement of the awake device.
        let known = max(peer.seq ?? 0, peer.listSeq ?? 0)
        if hello.generation == peer.generation, let seq = hello.seq, seq < known { return [] }
        peers[id]?.generation = hello.generation
        peers[id]?.seq = max(hello.seq ?? 0, hello.generation == peer.generation ? peer.seq ?? 0 : 0)
        return remove(id, leaveReason: leaveReason, at: now)
    }

    private mutating func update(_ known: Peer, _ hello: Hello, at now: MonotonicInstant) -> [PeerChange] {
        var peer = known
        let id = known.deviceID
        var changes: [PeerChange] = []
        let isRestart = hello.generation > known.generation
        if isRestart {
            peer.generation = hello.generation
            peer.seq = nil
            peer.listSeq = nil
            peer.listedSeq = nil
            peer.offers = []
            peer.acknowledged = nil
        }
        peer.renewed = now
        // An announcement that arrived before this hello has the current label and port.
        let isOvertaken = hello.seq.map { seq in peer.seq.map { seq < $0 } ?? false } ?? false
        if !isOvertaken, peer.update(hello) { changes.append(.changed(id)) }
        if !known.offers.isEmpty, isRestart { changes.append(.offersChanged(id)) }
        if !peer.isComplete { changes.append(.moreToFetch(id)) }
        peers[id] = peer
        return changes
    }
}
