package import HandoffModel

extension PeerTable {
    /// Handles a beacon that was opened under `label`.
    ///
    /// - Parameters:
    ///   - instance: The name of the service that carried it, to be passed to
    ///     ``instanceRemoved(_:)``.
    ///   - addresses: The filtered addresses in the records of that service. Their ports are
    ///     ignored.
    ///   - isTimely: True if its period is a current one here, so that this device's records are
    ///     also fresh there.
    ///   - freshUntil: The time until which the record's period makes it fresh; nil if it is not
    ///     fresh.
    package mutating func receivedBeacon(
        _ announcement: Announcement, label: Label, instance: String, addresses: [PeerAddress], isTimely: Bool = true,
        freshUntil: MonotonicInstant? = nil, at now: MonotonicInstant
    ) -> Reception {
        // A record of this device may be an old one that a cache repeats. Unlike an advert, it
        // proves nothing.
        guard announcement.deviceID != own else { return .own }
        let reception = accept(announcement, label: label, at: now)
        guard var peer = peers[announcement.deviceID] else { return reception }
        peer.readsRecords = isTimely
        switch reception {
        case .new, .repeated:
            peer.candidates.replaceAnnounced(
                addresses.compactMap { $0.withPort(peer.port) }, freshUntil: freshUntil, at: now)
            peer.note(instance: instance)
        case .stale:
            // An advert may have arrived before this record, but the presence of the service is
            // still new.
            if peer.label == label { peer.note(instance: instance) }
        case .own:
            break
        }
        peers[announcement.deviceID] = peer
        return reception
    }

    /// Handles an advert that was sealed for this device under `label`.
    ///
    /// - Parameter source: The source of the datagram; nil for an advert on a connection.
    package mutating func receivedAdvert(
        _ announcement: Announcement, label: Label, source: PeerAddress?, at now: MonotonicInstant
    ) -> Reception {
        guard announcement.deviceID != own else { return .own }
        let reception = accept(announcement, label: label, at: now)
        switch reception {
        case .new, .repeated:
            if let address = source?.withPort(announcement.port) {
                peers[announcement.deviceID]?.candidates.add(address, source: .datagram, at: now)
            }
        case .stale, .own:
            break
        }
        return reception
    }

    /// Handles the removal of an mDNS instance. Any host on the network can cause it, so it only
    /// selects the device to probe.
    ///
    /// - Returns: The device whose current service it was; nil for others and for services under
    ///   former labels.
    package mutating func instanceRemoved(_ instance: String) -> DeviceID? {
        for id in traces.keys { traces[id]?.unreachable?.peer.instances.remove(instance) }
        guard let id = device(ofInstance: instance), var peer = peers[id] else { return nil }
        peer.instances.remove(instance)
        peers[id] = peer
        return peer.label?.instanceName == instance ? id : nil
    }

    /// Classifies and applies an announcement, without its addresses.
    private mutating func accept(_ announcement: Announcement, label: Label, at now: MonotonicInstant) -> Reception {
        let id = announcement.deviceID
        if let peer = peers[id] {
            let seq = announcement.position.seq
            switch (announcement.position.generation, peer.generation) {
            case (let new, let known) where new < known: return .stale
            case (let new, let known) where new > known: return replace(peer, announcement, label: label, at: now)
            default: break
            }
            guard let known = peer.seq, seq <= known else { return replace(peer, announcement, label: label, at: now) }
            return seq == known ? extend(peer, announcement, label: label, at: now) : .stale
        }
        guard let trace = traces[id] else { return admit(announcement, label: label, received: now, at: now) }
        if trace.isBefore(announcement.position) { return admit(announcement, label: label, received: now, at: now) }
        // A repetition restores a device that was removed too early, but only for its remaining
        // lifetime.
        guard announcement.position.generation == trace.generation, announcement.position.seq == trace.seq,
            !trace.isFinal,
            trace.received + lifetime > now
        else { return .stale }
        return admit(announcement, label: label, received: trace.received, at: now)
    }

    /// Adds a device that was not online.
    private mutating func admit(
        _ announcement: Announcement, label: Label, received: MonotonicInstant, at now: MonotonicInstant
    ) -> Reception {
        let id = announcement.deviceID
        if let leaveReason = announcement.leaveReason {
            let position = announcement.position
            traces[id] = Trace(
                generation: position.generation, seq: position.seq, received: received, isFinal: true,
                asleep: leaveReason == .sleep ? now : nil)
            return .new(isFirst: false, changes: [])
        }
        var peer = Peer(announcement, label: label, received: received)
        peer.offers = peer.offers(announcement.activities, received: now, expires: received + lifetime)
        restore(peer)
        var changes: [PeerChange] = [.appeared(id)]
        if !peer.offers.isEmpty { changes.append(.offersChanged(id)) }
        if announcement.hasMore { changes.append(.moreToFetch(id)) }
        return .new(isFirst: true, changes: changes)
    }

    /// Applies a newer announcement of an online device.
    private mutating func replace(
        _ known: Peer, _ announcement: Announcement, label: Label, at now: MonotonicInstant
    ) -> Reception {
        var peer = known
        let id = peer.deviceID
        let isRestart = announcement.position.generation != peer.generation
        peer.generation = announcement.position.generation
        peer.seq = announcement.position.seq
        peer.renewed = now
        if let leaveReason = announcement.leaveReason {
            peers[id] = peer
            return .new(isFirst: false, changes: remove(id, leaveReason: leaveReason, at: now))
        }
        if isRestart {
            peer.offers = []
            peer.listedSeq = nil
            peer.acknowledged = nil
        }
        var changes: [PeerChange] = []
        if peer.update(announcement, label: label, at: now) { changes.append(.changed(id)) }
        if peer.isComplete {
            // The whole list is unchanged. The announcement may have room for only part of it.
            peer.offers = peer.offers.renewed(until: now + lifetime)
        } else {
            let fresh = peer.offers(announcement.activities, received: now, expires: now + lifetime)
            // Omitted activities may still be on offer. They stay until the whole list arrives or
            // they expire.
            peer.offers = announcement.hasMore ? (fresh + peer.offers.excluding(fresh)).bounded : fresh
            if !announcement.hasMore { peer.listedSeq = announcement.position.seq }
        }
        peers[id] = peer
        if !known.offers.hasSameContent(as: peer.offers) { changes.append(.offersChanged(id)) }
        if !peer.isComplete { changes.append(.moreToFetch(id)) }
        return .new(isFirst: false, changes: changes)
    }

    /// Applies the known announcement again, or in its other form. Activities that the first form
    /// omitted are added.
    private mutating func extend(
        _ known: Peer, _ announcement: Announcement, label: Label, at now: MonotonicInstant
    ) -> Reception {
        guard known.label == label || known.label == nil else { return .stale }
        var peer = known
        peer.label = label
        if !peer.isComplete, announcement.leaveReason == nil {
            let end = peer.renewed + lifetime
            let listed = peer.offers(announcement.activities, received: now, expires: end)
            peer.offers = announcement.hasMore ? (peer.offers + listed.excluding(peer.offers)).bounded : listed
            if !announcement.hasMore { peer.listedSeq = announcement.position.seq }
        }
        peers[peer.deviceID] = peer
        return .repeated(
            changes: known.offers.hasSameContent(as: peer.offers) ? [] : [.offersChanged(peer.deviceID)])
    }
}

/// The result of applying an authenticated announcement.
package enum Reception: Sendable, Equatable {
    /// It is newer than the known one and has replaced it. `isFirst` is true if the device was not
    /// online before.
    case new(isFirst: Bool, changes: [PeerChange])

    /// It is the known one. Only addresses and omitted activities were added.
    case repeated(changes: [PeerChange])

    /// It is older than the known one, or a repetition after leaving. Nothing was accepted.
    case stale

    /// It is from this device, or claims to be.
    case own

    package var changes: [PeerChange] {
        switch self {
        case .new(_, let changes), .repeated(let changes): changes
        case .stale, .own: []
        }
    }
}
