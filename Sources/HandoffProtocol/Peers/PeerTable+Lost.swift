package import HandoffModel
package import Timing

/// A device that became unreachable without having announced it, and that is searched for where it was.
package struct LostDevice: Sendable, Equatable {
    /// The device as it was known last.
    package internal(set) var peer: Peer

    /// When it became unreachable.
    package let since: MonotonicInstant

    /// The addresses to which something may be sent although nothing of the device arrives, the best one first: those that it
    /// proved, configured ones, and those of a record while that is fresh. A datagram's source alone may be forged.
    package func addresses(at now: MonotonicInstant) -> [PeerAddress] {
        peer.candidates.ranked.filter { candidate in
            candidate.wasProved || candidate.sources.contains(.fixed) || candidate.freshUntil.map { now < $0 } ?? false
        }.map(\.address)
    }
}

extension PeerTable {
    /// Time after which a device is not searched for any more: from then on its next record or datagram brings it back.
    package static let searchLimit = Duration.seconds(2 * 60 * 60)

    /// A device of which only an acknowledgement arrived is online again: it was sealed with a secret that both share, for an
    /// advert that was sent a moment ago. What the device announced meanwhile was missed, so its list is fetched.
    package mutating func recover(_ id: DeviceID, at now: MonotonicInstant) -> [PeerChange] {
        guard var peer = lost.removeValue(forKey: id)?.peer else { return [] }
        traces[id] = nil
        peer.renewed = now
        peer.offers.removeAll { $0.expires <= now }
        peer.listedSeq = nil
        peers[id] = peer
        return [.appeared(id), .offersChanged(id), .moreToFetch(id)]
    }

    /// Whether an announcement is one of a lost device, and newer than all that was received of it.
    package func isNewOfLost(_ announcement: Announcement) -> Bool {
        let id = announcement.deviceID
        return lost[id] != nil && traces[id]?.isBefore(announcement.position) == true
    }

    /// Ends all searches: this device sleeps, leaves or is in another network.
    package mutating func forgetLost() {
        lost = [:]
    }

    /// Removes a device that became unreachable, and keeps where it was, if there is an address at which to search for it.
    package mutating func lose(
        _ id: DeviceID, because reason: DepartureReason, at now: MonotonicInstant
    ) -> [PeerChange] {
        guard var peer = peers[id] else { return [] }
        peer.connectionCount = 0
        let device = LostDevice(peer: peer, since: now)
        if !device.addresses(at: now).isEmpty { lost[id] = device }
        return remove(id, because: reason)
    }

    /// Ends the search for a device that is online again: it is tried first at the addresses where it was.
    mutating func endSearch(for peer: inout Peer) {
        guard let former = lost.removeValue(forKey: peer.deviceID)?.peer else { return }
        peer.candidates = former.candidates
        peer.candidates.move(to: peer.port)
    }
}
