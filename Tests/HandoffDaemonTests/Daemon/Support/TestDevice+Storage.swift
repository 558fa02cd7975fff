import Glibc
import HandoffAccount
import HandoffCrypto
import HandoffDaemon
import HandoffModel
import HandoffState
import HandoffTestSupport
import LoopIO
import Testing

extension TestDevice {
    /// Makes storing an account fail, by a folder in place of the file that each new version is
    /// written to. Even root cannot write there.
    func blockAccountFile() -> Bool { mkdir(state.file(".account.new"), 0o700) == 0 }

    /// Allows storing accounts again.
    func unblockAccountFile() -> Bool { rmdir(state.file(".account.new")) == 0 }

    /// Opens the state folder. Call it only while the daemon does not run.
    func openState() throws -> StoredState {
        var opened: StoredState?
        // The worker of the previous daemon may still be writing.
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

    /// Deletes the account, but not the identity. Call it only while the daemon does not run.
    func forgetAccount() throws {
        try #require(unlink(state.file("account")) == 0)
        try #require(unlink(state.file("joined")) == 0)
    }

    /// Changes the stored account. Call it only while the daemon does not run.
    func editAccount(_ change: (AccountState, SigningKey) throws -> AccountState) throws {
        let stored = try openState()
        let account = try #require(stored.account)
        try stored.folder.store(account: try change(account, stored.identity))
    }
}
