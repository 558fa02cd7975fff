import HandoffAccount
import HandoffControl
import HandoffCrypto
import HandoffJSON
import HandoffLog
import HandoffModel
import HandoffProtocol

/// What the account service shows, and what it can do.
extension DaemonCore {
    /// What the account service needs.
    var accountSurroundings: AccountService.Surroundings {
        AccountService.Surroundings(
            account: { [unowned self] in account() },
            createAccount: { [unowned self] completion in
                keeper.create(name: name) { completion($0.mapError { CallError($0) }) }
            },
            files: accountFiles, tickets: { [unowned self] in tickets() },
            revoke: { [unowned self] in keeper.revoke($0, completion: $1) },
            rotateKey: { [unowned self] in keeper.rotate(completion: $0) },
            mayExport: { [unowned self] in _ = try keeper.member(keeper.state) },
            devices: { [unowned self] in devices() },
            removeDevice: { [unowned self] in try removeDevice($0, dropping: $1, call: $2) },
            renameDevice: { [unowned self] in renameDevice($0, to: $1, completion: $2) },
            leaveAccount: { [unowned self] in leaveAccount(completion: $0) })
    }

    // MARK: - Showing

    private func account() -> ControlAccount {
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
