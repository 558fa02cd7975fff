import HandoffAccount
import HandoffControl
import HandoffCrypto
import HandoffJSON
import HandoffLog
import HandoffModel
import HandoffProtocol

/// What the account service shows, and what it can do.
extension DaemonCore {
    /// Throws unless this device is a member.
    func requireMember() throws {
        _ = try keeper.member(keeper.state)
    }

    /// The account, for the control interface.
    func account() -> ControlAccount {
        let state = keeper.state
        return ControlAccount(
            account: state?.accountID, epoch: state?.epoch.map(UInt64.init), devices: state?.view.live.count ?? 0,
            tickets: tickets())
    }

    /// What this device is in the account has changed for the worse: the log says so too.
    func tellStanding(from former: AccountState?, to present: AccountState) {
        let standing = present.standing(of: keeper.deviceID)
        let before = former?.standing(of: keeper.deviceID)
        if standing == .member, before == nil || before == .joining {
            log.notice("Joined an account", ["account": present.accountID.short])
        }
        guard standing != before, standing != .joining, let words = Self.words(for: standing)
        else { return }
        log.error("\(words)")
    }
}
