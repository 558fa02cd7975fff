package import HandoffModel
package import Timing

extension AdvertMachine {
    /// A device became unreachable: if it can be searched for, its last addresses are tried until it is online again.
    package mutating func lost(_ id: DeviceID, peers: PeerTable, at now: MonotonicInstant) {
        guard peers.lost[id] != nil else { return }
        searches[id] = Search(due: now + SearchDelay.shortest)
    }

    /// The addresses of this device changed, or its link returned: all searches continue immediately.
    package mutating func networkChanged(at now: MonotonicInstant) {
        for id in searches.keys { searches[id]?.due = now }
    }

    /// Sends the latest advert to where lost devices were, and calls them there: either may get through alone.
    mutating func advanceSearches(peers: PeerTable, at now: MonotonicInstant) -> [AdvertAction] {
        var actions: [AdvertAction] = []
        searches = searches.filter { peers.lost[$0.key] != nil }
        for (id, search) in searches where search.due <= now {
            guard let device = peers.lost[id] else { continue }
            let addresses = device.addresses(at: now).prefix(Self.maxGreetings)
            // The record that named the last ones is not fresh any more.
            guard !addresses.isEmpty else {
                searches[id] = nil
                continue
            }
            searches[id] = Search(due: now + SearchDelay.delay(after: device.since.duration(to: now)), isCalling: true)
            if let label = device.peer.label {
                actions += addresses.map { .send(to: $0, device: id, label: label) }
            }
            if !search.isCalling { actions.append(.useConnection(id)) }
        }
        return actions
    }
}

/// The search for one device that became unreachable.
struct Search: Sendable, Equatable {
    /// When its addresses are tried next.
    var due: MonotonicInstant

    /// A call that was requested has not ended yet.
    var isCalling = false
}
