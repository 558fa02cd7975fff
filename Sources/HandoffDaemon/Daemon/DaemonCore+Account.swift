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
        guard standing != before, standing != .joining, let words = ControlStanding(standing).problem
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

extension ControlStanding {
    /// As the control interface says it.
    init(_ standing: Standing) {
        switch standing {
        case .member: self = .member
        case .joining: self = .joining
        case .fileUsedTwice: self = .fileUsedTwice
        case .fileClosed: self = .fileClosed
        case .removed: self = .removed
        }
    }
}
