package import HandoffCrypto
package import HandoffModel

extension AccountState {
    /// Adds what another member sent; all of it or, on a throw, none.
    ///
    /// Nothing has changed when ``MergeResult/hasChanged`` is false. If digests still differ after both sides have sent
    /// all they have, a limit is reached (``MergeResult/complaints``); asking again helps only after a change.
    package func merging(_ statements: [Statement]) throws(StatementError) -> AccountMerge {
        var next = self
        let result = try next.roster.merge(statements)
        if result.hasChanged {
            next.forgetWhatIsOver()
            next.noteExposure(since: view)
        }
        return AccountMerge(from: self, to: next, result: result)
    }

    /// Introduction: what a device that nobody here knows has to say for itself, after it has passed the gate by an open ticket
    /// or by the epoch's key, and proved to own `presenter` by TLS.
    ///
    /// - Returns: the merged state if `presenter` is a member in it; nil if not, and then nothing may be stored.
    package func admits(_ presenter: PublicKey, with statements: [Statement]) throws(StatementError) -> AccountMerge? {
        let device = DeviceID(presenter)
        guard !view.isRemoved(device) else { return nil }
        let merge = try merging(statements)
        return merge.state.view.isLive(device) ? merge : nil
    }

    /// Notices members that are out without being removed themselves, as when two removals of one device keep different
    /// ones. The record in force counts on, since the removed are the same; but they may hold its key.
    private mutating func noteExposure(since old: RosterView) {
        guard let record = old.currentEpoch, record == view.currentEpoch else { return }
        if !old.live.isSubset(of: view.live) { exposedRecord = record.id }
    }
}

/// A state with the statements of another device merged in, and what that changed.
package struct AccountMerge: Sendable {
    /// The new state, to be stored before anything is done about it.
    package let state: AccountState
    /// Which statements were new, and which were refused.
    package let result: MergeResult
    /// Members that were none before.
    package let joined: Set<DeviceID>
    /// Devices that were members before: close their connections, streams and offers at once.
    package let left: Set<DeviceID>
    /// Whether another epoch record holds than before, or none.
    package let hasNewEpoch: Bool

    init(from old: AccountState, to new: AccountState, result: MergeResult) {
        state = new
        self.result = result
        joined = new.view.live.subtracting(old.view.live)
        left = old.view.live.subtracting(new.view.live)
        hasNewEpoch = old.view.currentEpoch != new.view.currentEpoch
    }
}
