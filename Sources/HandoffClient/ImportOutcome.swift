package import HandoffModel

/// What came of an account file that was sent to the daemon.
package enum ImportOutcome: Equatable, Sendable {
    /// The device belongs to this account now.
    case joined(account: AccountID)
    /// The daemon did not take it: the error's name, and why.
    case refused(name: String, message: String)
}
