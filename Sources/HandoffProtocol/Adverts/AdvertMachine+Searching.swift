package import HandoffModel

extension AdvertMachine {
    /// Starts to search for a device that became unreachable, if possible. Its last addresses are
    /// tried until it is online again.
    package mutating func lost(_ id: DeviceID, peers: PeerTable, at now: MonotonicInstant) {
        guard peers.lost(id) != nil else { return }
        deliveries[id] = Delivery(search: Search(due: now + SearchDelay.minDelay))
    }

    /// Resumes all searches immediately, because this device's addresses changed or its link
    /// returned.
    package mutating func networkChanged(at now: MonotonicInstant) {
        for id in deliveries.keys { deliveries[id]?.search?.due = now }
    }

    /// Sends the latest advert to the last addresses of lost devices and also connects to them,
    /// since only one of the two may succeed.
    mutating func advanceSearches(peers: PeerTable, at now: MonotonicInstant) -> [AdvertAction] {
        var actions: [AdvertAction] = []
        for (id, delivery) in deliveries {
            guard let search = delivery.search, search.due <= now, let device = peers.lost(id) else { continue }
            let addresses = device.addresses(at: now).prefix(Self.maxGreetings)
            // The record with the last addresses is no longer fresh.
            guard !addresses.isEmpty else {
                deliveries[id] = nil
                continue
            }
            deliveries[id]?.search = Search(
                due: now + SearchDelay.delay(after: device.since.duration(to: now)), isCalling: true)
            if let label = device.peer.label {
                actions += addresses.map { .send(to: $0, device: id, label: label) }
            }
            if !search.isCalling { actions.append(.useConnection(id)) }
        }
        return actions
    }
}

/// The search for a lost device.
struct Search: Sendable, Equatable {
    /// The time of the next attempt.
    var due: MonotonicInstant

    /// True while a requested connection attempt has not ended.
    var isCalling = false
}
