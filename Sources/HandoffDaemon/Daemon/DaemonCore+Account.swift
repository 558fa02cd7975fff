import HandoffAccount
import HandoffControl
import HandoffDiscovery
import HandoffHandlers
import HandoffModel
import HandoffPeers
import HandoffState
import LoopIO

/// The state of this device in its account.
extension DaemonCore {
    /// Applies a stored change of the account, first to the other devices, then to the services.
    func accountChanged(from former: AccountState?, to present: AccountState) {
        let snapshot = self.snapshot
        reportStanding(from: former, to: present)
        peers.accountChanged(from: former, to: present) { members in
            broker.accountChanged(live: members)
            streams.accountChanged(live: members)
            apps.accountChanged(live: members)
        }
        accountFiles.accountChanged(snapshot)
        contact.accountChanged(present.accountID)
        removals.accountChanged(members: snapshot.live)
        pairing.accountChanged()
        nameSelf()
        control.offersChanged()
    }

    /// Names this device if it has no name in the account. The member that named it during pairing
    /// may have been removed, and then the name is no longer valid.
    func nameSelf() {
        guard let view = accountStore.state?.view, view.isLive(accountStore.deviceID),
            view.names[accountStore.deviceID] == nil
        else {
            return
        }
        accountStore.rename(accountStore.deviceID, to: name) { [log] result in
            if case .failure(let error) = result { log.error("Cannot name this device", ["error": "\(error)"]) }
        }
    }

    /// Logs and displays a change for the worse in the state of this device in the account.
    func reportStanding(from former: AccountState?, to present: AccountState) {
        let standing = present.standing(of: accountStore.deviceID)
        let before = former?.standing(of: accountStore.deviceID)
        if standing == .member, before == nil || before == .joining {
            log.notice("Joined an account", ["account": present.accountID.short])
        }
        guard standing != before, standing != .joining, let words = standing.problem
        else { return }
        log.error("\(words)")
        // The user of a device that leaves knows of it already.
        if !present.hasLeft(accountStore.deviceID) { notifications.excluded(because: words) }
    }

    /// Deletes the account that this device has left, and creates a new identity, with which the
    /// next core starts.
    ///
    /// - Parameters:
    /// - notified: the members that know that this device has left.
    /// - completion: receives these members, before the next core starts.
    func resetIdentity(
        notified: Set<DeviceID>, completion: @escaping (Result<Set<DeviceID>, any Error>) -> Void
    ) {
        worker.run({ [folder = stored.folder] in try folder.resetIdentity() }, on: loop) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let identity):
                let next = stored.renewed(
                    identity: identity, generation: generation, peers: peersFile, apps: appSwitches,
                    claims: installed.registry.history, switches: switches.switches, networks: networks.trust.known)
                completion(.success(notified))
                // After the reply, which is sent while the connections of the clients end.
                loop.later { [weak self] in self?.onLeft?(next) }
            case .failure(let error):
                log.error("Cannot delete the account that this device has left", ["error": "\(error)"])
                completion(.failure(error))
            }
        }
    }
}
