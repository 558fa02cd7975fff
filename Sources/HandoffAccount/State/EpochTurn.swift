package import HandoffProtocol

/// Since when an epoch is due, so that the wait for those whose turn comes first ends. A plain value; the owner asks at each
/// change of the account, and when the wait is over. See `docs/state-machines/account.md`.
package struct EpochTurn: Sendable {
    private var reason: EpochDue.Reason?
    private var since = BootInstant(nanoseconds: 0)

    /// Nothing is due yet.
    package init() {}

    /// What is left of the wait: zero when this device is to make the epoch now, nil while none is due.
    ///
    /// - Parameter due: what `AccountState.epochDue` says now.
    package mutating func rest(of due: EpochDue?, at now: BootInstant) -> Duration? {
        if due?.reason != reason {
            reason = due?.reason
            since = now
        }
        guard let due else { return nil }
        // The wait for a key counts from when the key was first missed, and is shorter each time it is asked for.
        guard due.reason != .withheld else { return due.after }
        return max(.zero, due.after - now.duration(since: since))
    }
}
