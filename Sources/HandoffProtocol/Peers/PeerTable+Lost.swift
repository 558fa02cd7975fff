package import HandoffModel

/// A device that became unreachable without announcing it, and that is searched for at its last
/// addresses.
package struct UnreachableDevice: Sendable, Equatable {
    package internal(set) var peer: Peer

    /// The time at which it became unreachable.
    let since: MonotonicInstant

    /// Returns the addresses to which messages may be sent although nothing arrives from the
    /// device, best first: those that it proved, configured ones, and those of a record while it is
    /// fresh. The source of a datagram alone may be forged.
    package func addresses(at now: MonotonicInstant) -> [PeerAddress] {
        peer.candidates.ranked.filter { candidate in
            candidate.wasProved || candidate.sources.contains(.fixed) || candidate.freshUntil.map { now < $0 } ?? false
        }.map(\.address)
    }
}

extension PeerTable {
    /// Returns a device that is searched for; nil if it is not.
    package func lost(_ id: DeviceID) -> UnreachableDevice? {
        traces[id]?.unreachable
    }

    /// True if any device is searched for.
    package var hasLost: Bool {
        traces.values.contains { $0.unreachable != nil }
    }

    /// The maximum duration of a search. After it, only the device's next record or datagram makes
    /// it online again.
    package static let searchLimit = Duration.seconds(2 * 60 * 60)

    /// Restores a lost device that sent only an acknowledgement. The acknowledgement was sealed
    /// with the shared secret, for an advert sent very recently. Announcements may have been
    /// missed, so the device's list is fetched.
    package mutating func recover(_ id: DeviceID, at now: MonotonicInstant) -> [PeerChange] {
        guard var peer = traces[id]?.unreachable?.peer else { return [] }
        traces[id] = nil
        peer.renewed = now
        peer.offers.removeAll { $0.expires <= now }
        peer.listedSeq = nil
        peers[id] = peer
        return [.appeared(id), .offersChanged(id), .moreToFetch(id)]
    }

    /// Returns whether an announcement is from a lost device and newer than everything received
    /// from it.
    package func isNewFromUnreachable(_ announcement: Announcement) -> Bool {
        let id = announcement.deviceID
        guard let trace = traces[id], trace.unreachable != nil else { return false }
        return trace.isBefore(announcement.position)
    }

    /// Ends all searches, because this device is going to sleep, leaving or in another network.
    package mutating func forgetLost() {
        for id in traces.keys { traces[id]?.unreachable = nil }
    }

    /// Removes a device that became unreachable, and keeps its addresses if there is one at which
    /// to search for it.
    package mutating func drop(
        _ id: DeviceID, because reason: DepartureReason, at now: MonotonicInstant
    ) -> [PeerChange] {
        guard var peer = peers[id] else { return [] }
        peer.connectionCount = 0
        let device = UnreachableDevice(peer: peer, since: now)
        return remove(id, because: reason, searchingFor: device.addresses(at: now).isEmpty ? nil : device)
    }

    /// Adds a device that is online again. Its last addresses are tried first.
    mutating func restore(_ peer: Peer) {
        var peer = peer
        if let former = traces.removeValue(forKey: peer.deviceID)?.unreachable?.peer {
            peer.candidates = former.candidates
            peer.candidates.move(to: peer.port)
        }
        peers[peer.deviceID] = peer
    }
}
