import HandoffControl
import HandoffHandlers
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import LoopIO

/// The local offers and apps, as far as they are enabled.
extension DaemonCore {
    /// The local offers that may be announced, most recent first.
    var localOffers: [LocalOffer] {
        guard switches.allows(.advertise) else { return [] }
        return apps.offers().filter { switches.policy.forbids($0.activity.type) == nil }
    }

    /// Passes on which apps the user has disabled or the administrator forbids.
    func disableApps() {
        installed.setDisabled(appSwitches.disabled.union(switches.policy.forbiddenApps.compactMap { AppID($0) }))
    }

    /// Handles a change of the switches or the policy.
    func switchesChanged() {
        disableApps()
        peers.advertisingChanged()
        keeping.review()
        control.offersChanged()
    }

    /// Applies the sets of disabled and muted apps once they are stored. A disabled app offers and
    /// continues nothing. A muted app has no notifications.
    func store(_ switches: AppSwitches, completion: @escaping (Result<Void, any Error>) -> Void) {
        worker.run({ [folder = stored.folder] in try folder.store(apps: switches) }, on: loop) { [weak self] result in
            guard let self else { return }
            if case .success = result {
                appSwitches = switches
                disableApps()
                peers.offersChanged()
                keeping.review()
                control.offersChanged()
            }
            completion(result)
        }
    }

    /// Replaces the addresses that were added by command once they are stored.
    func store(_ peers: PeersFile, completion: @escaping (Result<Void, any Error>) -> Void) {
        worker.run({ [folder = stored.folder] in try folder.store(peers: peers) }, on: loop) { [self] result in
            if case .success = result { peersFile = peers }
            completion(result)
        }
    }

    /// Stores the order in which apps made their claims. Without it only the order differs after a
    /// restart.
    func store(_ claims: ClaimHistory) {
        worker.run({ [folder = stored.folder] in try folder.store(claims: claims) }, on: loop) { [weak self] result in
            guard case .failure(let error) = result else { return }
            self?.log.error("Cannot store the order of the apps' claims", ["error": "\(error)"])
        }
    }
}
