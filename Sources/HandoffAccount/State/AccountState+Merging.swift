package import HandoffCrypto
package import HandoffModel

extension AccountState {
    /// Adds all statements that another member sent or, on a throw, none.
    ///
    /// The state is unchanged if ``MergeResult/hasChanged`` is false. If digests still differ after
    /// both sides have sent all their statements, a limit is reached (``MergeResult/complaints``).
    /// Requesting them again helps only after a change.
    package func merging(_ statements: [Statement]) throws(StatementError) -> AccountMerge {
        var next = self
        let result = try next.roster.merge(statements)
        if result.hasChanged {
            next.dropObsoleteEntries()
            next.noteExposure(since: view)
        }
        return AccountMerge(from: self, to: next, result: result)
    }

    /// Handles an introduction: the statements of an unknown device that passed the gate with an
    /// open ticket or the epoch's key, and proved with TLS that it owns `presenter`.
    ///
    /// - Returns: the merged state if `presenter` is a member in it, otherwise nil; then store
    ///   nothing.
    package func admits(_ presenter: PublicKey, with statements: [Statement]) throws(StatementError) -> AccountMerge? {
        let device = DeviceID(presenter)
        guard !view.isRemoved(device) else { return nil }
        let merge = try merging(statements)
        return merge.state.view.isLive(device) ? merge : nil
    }

    /// Detects members that lost membership without being removed themselves, as when two removals
    /// of one device keep different ones. The current record stays valid, because the removed
    /// devices are the same, but the former members may have its key.
    private mutating func noteExposure(since old: RosterView) {
        guard let record = old.currentEpoch, record == view.currentEpoch else { return }
        if !old.live.isSubset(of: view.live) { exposedRecord = record.id }
    }
}

/// A state after merging the statements of another device, and the resulting changes.
package struct AccountMerge: Sendable {
    /// The new state. Store it before acting on it.
    package let state: AccountState
    /// The added and the refused statements.
    package let result: MergeResult
    /// Devices that have become members.
    package let joined: Set<DeviceID>
    /// Devices that are no longer members. Close their connections, streams and offers immediately.
    package let left: Set<DeviceID>
    /// True if the current epoch record has changed or no longer exists.
    package let hasNewEpoch: Bool

    init(from old: AccountState, to new: AccountState, result: MergeResult) {
        state = new
        self.result = result
        joined = new.view.live.subtracting(old.view.live)
        left = old.view.live.subtracting(new.view.live)
        hasNewEpoch = old.view.currentEpoch != new.view.currentEpoch
    }
}
