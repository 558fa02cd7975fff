import HandoffAccount
import HandoffControl
import HandoffDesktopClient
import HandoffDiscovery
import HandoffLog
import HandoffModel
import HandoffPairingService
import HandoffPeers
import HandoffState
import LoopIO
import Timing

/// What this device is in its account.
extension DaemonCore {
    /// Takes a change of the account that is stored now: first connections, then what is announced, then the others.
    package func accountChanged(from former: AccountState?, to present: AccountState) {
        let snapshot = self.snapshot
        let removed = waysToRemoved(from: former, to: present)
        let news = present.roster.ordered.filter { !(former?.roster.contains($0.id) ?? false) }
        tellStanding(from: former, to: present)
        // First all that concerns those who are members no more: nothing may be sent to them on the way.
        members.accountChanged(snapshot)
        network.take(snapshot)
        broker.accountChanged(live: snapshot.live)
        streams.accountChanged(live: snapshot.live)
        pool.accountChanged(snapshot)
        network.accountChanged()
        discovery.setMembership(network.membership)
        for (device, way) in removed { pool.tellRemoved(device, way) }
        sync.accountChanged(news: news, hasNewEpoch: former?.held?.record != present.held?.record)
        joining.accountChanged()
        accountFiles.accountChanged(snapshot)
        contact.accountChanged(present.accountID)
        staticPeers.accountChanged(live: snapshot.live)
        removals.accountChanged(members: snapshot.live)
        pairing.accountChanged()
        nameSelf()
        control.offersChanged()
    }

    /// Where those are whom this device has just removed: they are told, as far as they can be reached now.
    private func waysToRemoved(
        from former: AccountState?, to present: AccountState
    ) -> [(device: DeviceID, way: LinkPool.Way)] {
        guard let former, present.view.isLive(accountStore.deviceID) else { return [] }
        return former.view.live.subtracting(present.view.live).compactMap { device in
            guard present.isRemoved(device, by: accountStore.deviceID), !pool.isConnected(device) else { return nil }
            return network.ways(to: device).first { !$0.isIntroduction }.map { (device, $0) }
        }
    }

    /// A device without a name says what it is called: who named it when they were paired may be a member no more, and
    /// then its names count no more either.
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

    /// What this device is in the account has changed for the worse: the log says so too.
    func tellStanding(from former: AccountState?, to present: AccountState) {
        let standing = present.standing(of: accountStore.deviceID)
        let before = former?.standing(of: accountStore.deviceID)
        if standing == .member, before == nil || before == .joining {
            log.notice("Joined an account", ["account": present.accountID.short])
        }
        guard standing != before, standing != .joining, let words = standing.problem
        else { return }
        log.error("\(words)")
        // A device that leaves knows it already.
        if !present.hasLeft(accountStore.deviceID) { notifications.excluded(because: words) }
    }

    /// The exported files that may still be used.
    func tickets() -> [ControlTicket] {
        guard let state = accountStore.state else { return [] }
        let now = wallClock.unixSeconds
        return state.view.openTickets.map { ticket in
            let export = state.exports.first { $0.ticket == ticket.id }
            return ControlTicket(
                id: ticket.id.hex, device: ticket.issuer, mine: ticket.issuer == accountStore.deviceID,
                age: export.map { Double($0.age(at: now)) })
        }
    }
}
