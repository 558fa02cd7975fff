package import HandoffModel

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
