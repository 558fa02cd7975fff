package import HandoffModel

/// Why statements from outside are refused as a whole.
package enum StatementError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The bytes are not the canonical layout of any statement.
    case layout
    /// A statement belongs to another account.
    case foreignAccount(AccountID)
    /// A signature is wrong, or a founding statement does not give its account's id.
    case signature(of: Fingerprint)
    /// A list has no founding statement where one is needed.
    case noFounder

    package var description: String {
        switch self {
        case .layout: "statement has no valid layout"
        case .foreignAccount(let account): "statement belongs to another account, \(account.short)"
        case .signature(let signer): "signature of \(signer.short) is wrong"
        case .noFounder: "founding statement is missing"
        }
    }
}
