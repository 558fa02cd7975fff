import HandoffAccount
import HandoffControl
import HandoffCrypto
import HandoffDiscovery
import HandoffJSON
import HandoffLog
import HandoffModel
import HandoffProtocol
import LoopIO

/// What the control interface shows, and what it can do.
extension DaemonCore {
    // MARK: - Showing

    /// What `GetStatus` answers.
    func status() -> ControlStatus {
        let state = keeper.state
        return ControlStatus(
            daemon: Version.daemon, device: keeper.deviceID, name: displayName, kind: kind,
            account: state?.accountID, epoch: state?.epoch.map(UInt64.init), discovery: discovery.kind.rawValue,
            discoveryState: discoveryStates.text(of: discovery.kind), port: port, peers: peers(),
            published: apps.store.count, offered: offers().count, tickets: tickets(),
            switches: board.shown, warnings: warnings())
    }

    func tickets() -> [ControlTicket] {
        guard let state = keeper.state else { return [] }
        let now = wallClock.unixSeconds
        return state.view.openTickets.map { ticket in
            let export = state.exports.first { $0.ticket == ticket.id }
            return ControlTicket(
                id: ticket.id.hex, device: ticket.issuer, mine: ticket.issuer == keeper.deviceID,
                age: export.map { Double($0.age(at: now)) })
        }
    }

    private func peers() -> [ControlPeer] {
        let known = network.table.all.map { peer in
            let best = peer.candidates.ranked.first
            return ControlPeer(
                device: peer.deviceID, name: ring.name(of: peer.deviceID),
                address: best.flatMap { SocketAddress($0.address) }?.description,
                via: peer.isAnnounced ? .mdns : best?.sources.contains(.fixed) ?? false ? .static : .advert,
                connected: pool.isConnected(peer.deviceID), activities: peer.offers.count)
        }
        let unreached = statics.addresses.filter { _, device in device.flatMap { network.table[$0] } == nil }
        return known
            + unreached.map { address, device in
                ControlPeer(
                    device: device, name: device.map { ring.name(of: $0) }, address: address.text, via: .static,
                    connected: false, activities: 0)
            }
    }

    private func warnings() -> [String] {
        var warnings: [String] = []
        if network.isCloned {
            warnings.append("another machine runs with this device's identity: reset one of the two state folders")
        }
        if let state = keeper.state {
            if state.hasLeft(keeper.deviceID) {
                warnings.append("this device has left its account, and could not forget it: leave the account again")
            } else if ring.isJoining {
                warnings.append("this device has not joined its account yet: \(joining.missing)")
            } else if let words = Self.words(for: state.standing(of: keeper.deviceID)) {
                warnings.append(words)
            }
            if state.view.isLive(keeper.deviceID), !ring.isJoining, !state.isCurrent {
                warnings.append("the account key in force has not reached this device yet")
            }
        }
        warnings += unfinishedWarnings()
        if case .unavailable(let reason) = discoveryStates.state(of: discovery.kind) {
            warnings.append("discovery is not available: \(reason)")
        }
        return warnings
    }

    /// What the user has to know of this device's standing in the account.
    static func words(for standing: Standing) -> String? {
        switch standing {
        case .member, .joining: nil
        case .fileUsedTwice:
            """
            another device joined with the same account file, so neither is a member: leave the account, and join with \
            a new file
            """
        case .fileClosed:
            """
            the account file that this device joined with was closed, so it is no member: leave the account, and join \
            with a new file
            """
        case .removed: "this device was removed from its account"
        }
    }

    /// What the other devices offer and may be received here.
    func offers() -> [RemoteOffer] {
        allOffers().filter { board.allows(.receive, of: $0.activity.type, with: $0.device) }
    }

    /// What they offer and may not be received.
    func hiddenOffers() -> [RemoteOffer] {
        allOffers().filter { !board.allows(.receive, of: $0.activity.type, with: $0.device) }
    }

    private func allOffers() -> [RemoteOffer] {
        let now = network.now
        return network.table.all.flatMap { peer in
            peer.offers.map { offer in
                let age = offer.age(at: now).components.seconds
                let activity = offer.activity
                return RemoteOffer(
                    device: peer.deviceID,
                    activity: OfferedActivity(
                        id: activity.id, type: activity.type, title: activity.title, team: activity.team,
                        supportsStreams: activity.supportsStreams, hasWebpageURL: activity.hasWebpageURL,
                        age: UInt32(clamping: age)))
            }
        }.sorted { $0.activity.age < $1.activity.age }
    }

    /// An offer as the control interface shows it.
    func shown(_ offer: RemoteOffer) -> ControlActivity {
        let activity = offer.activity
        let origin = network.origin(of: offer.device)
        return ControlActivity(
            id: activity.id, type: activity.type, title: activity.title, team: activity.team, device: offer.device,
            deviceName: origin.deviceName, deviceKind: origin.deviceKind, streams: activity.supportsStreams,
            hasWebpageURL: activity.hasWebpageURL, age: Double(activity.age), opens: opens(activity))
    }

    private var displayName: String {
        keeper.state == nil ? name : ring.name(of: keeper.deviceID)
    }

    // MARK: - Static peers

    /// Stores an address, and begins to call it.
    func addPeer(_ text: String, completion: @escaping (Result<Void, any Error>) -> Void) {
        changePeers(text, { $0.adding($1) }, { [unowned self] in statics.add($0) }, completion: completion)
    }

    /// Removes an address, and calls it no more.
    func removePeer(_ text: String, completion: @escaping (Result<Void, any Error>) -> Void) {
        changePeers(text, { $0.removing($1) }, { [unowned self] in statics.remove($0) }, completion: completion)
    }

    private func changePeers(
        _ text: String, _ change: (PeersFile, StaticAddress) -> PeersFile, _ apply: @escaping (StaticAddress) -> Void,
        completion: @escaping (Result<Void, any Error>) -> Void
    ) {
        guard let address = StaticAddress(text) else {
            return completion(.failure(CallError.invalidAddress(text)))
        }
        let changed = change(peersFile, address)
        worker.run({ [folder = stored.folder] in try folder.store(peers: changed) }, on: loop) { [self] result in
            if case .success = result {
                peersFile = changed
                apply(address)
            }
            completion(result)
        }
    }
}
