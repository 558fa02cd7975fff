import Glibc
import HandoffAccount
import HandoffCrypto
import HandoffDaemon
import HandoffState
import HandoffTestSupport
import LoopIO
import Testing
import Timing

extension TestDevice {
    /// Lets no account be stored: a folder in the place of the file that each new version is written to, where root cannot
    /// write either.
    func blockAccountFile() -> Bool { mkdir(state.file(".account.new"), 0o700) == 0 }

    /// Lets accounts be stored again.
    func unblockAccountFile() -> Bool { rmdir(state.file(".account.new")) == 0 }

    /// Opens the state folder; only while the daemon does not run.
    func openState() throws -> StoredState {
        var opened: StoredState?
        // The daemon before may still be writing, on its worker.
        try fleet.poll("the state folder is free") {
            do throws(StateError) {
                opened = try StateFolder.open(state.path, now: fleet.unixSeconds)
            } catch .inUse {
                return false
            }
            return true
        }
        return try #require(opened)
    }

    /// Loses the account, but not the identity; only while the daemon does not run.
    func forgetAccount() throws {
        try #require(unlink(state.file("account")) == 0)
        try #require(unlink(state.file("joined")) == 0)
    }

    /// Changes the account behind the daemon's back; only while it does not run.
    func editAccount(_ change: (AccountState, SigningKey) throws -> AccountState) throws {
        let stored = try openState()
        let account = try #require(stored.account)
        try stored.folder.store(account: try change(account, stored.identity))
    }
}
