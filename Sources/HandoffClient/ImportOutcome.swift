package import HandoffModel

/// What came of an account file that was sent to the daemon.
package enum ImportOutcome: Equatable, Sendable {
    /// A member has let the device into this account.
    case joined(account: AccountID)
    /// The file is stored, and no member has let the device in yet: what is missing, for people.
    case waiting(account: AccountID, missing: String)
    /// The daemon did not take it: the error's name, and why.
    case refused(name: String, message: String)
}
