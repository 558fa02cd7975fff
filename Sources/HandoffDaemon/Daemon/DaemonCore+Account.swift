import HandoffAccount
import HandoffControl
import HandoffLog
import HandoffModel
import HandoffState
import LoopIO
import Timing

/// What this device is in its account.
extension DaemonCore {
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
