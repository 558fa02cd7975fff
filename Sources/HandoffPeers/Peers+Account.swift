package import HandoffAccount
import HandoffDiscovery
package import HandoffModel
import HandoffProtocol
import HandoffState

extension Peers {
    /// Applies a change of the account that is already stored.
    ///
    /// The order of the steps is part of the security of a removal:
    /// 1. The removed devices lose their records and their offers, so that no later step sends them
    ///    anything.
    /// 2. The rest of the daemon ends its work with them.
    /// 3. Their links are closed.
    /// 4. This device announces itself under the new keys and sends the new statements.
    ///
    /// - Parameter endOthers: ends everything in the rest of the daemon that belongs to devices
    ///   other than these members.
    package func accountChanged(
        from former: AccountState?, to present: AccountState, endOthers: (_ members: Set<DeviceID>) -> Void
    ) {
        let snapshot = accountStore.snapshot
        let removed = routesToRemoved(from: former, to: present)
        let added = present.roster.ordered.filter { !(former?.roster.contains($0.id) ?? false) }

        records.accountChanged(snapshot)
        network.take(snapshot)
        endOthers(snapshot.live)
        pool.accountChanged(snapshot)

        network.accountChanged()
        discovery.setMembership(network.membership)
        for (device, route) in removed { pool.notifyRemoved(device, route) }
        kept.accountChanged(live: snapshot.live)
        sync.accountChanged(added: added, hasNewEpoch: former?.held?.record != present.held?.record)
        joining.accountChanged()
        staticPeers.accountChanged(live: snapshot.live, hasOtherMembers: former?.view.live != present.view.live)
    }

    /// Returns the routes to the devices that this device has just removed and that have no link.
    /// They are notified if they can be reached now.
    private func routesToRemoved(
        from former: AccountState?, to present: AccountState
    ) -> [(device: DeviceID, route: LinkPool.Route)] {
        guard let former, present.view.isLive(accountStore.deviceID) else { return [] }
        return former.view.live.subtracting(present.view.live).compactMap { device in
            guard present.isRemoved(device, by: accountStore.deviceID), !pool.isConnected(device) else { return nil }
            return network.routes(to: device).first { !$0.isIntroduction }.map { (device, $0) }
        }
    }
}
