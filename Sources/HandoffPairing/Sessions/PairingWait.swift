/// What a session waits for, and so how long the driver lets it.
package enum PairingWait: Sendable, Hashable {
    /// The proofs of code and identity: ``PairingProtocol/proofTime`` from the beginning of the connection.
    case proof
    /// The user of the inviter: until the window ends, and ``PairingProtocol/answerGrace`` longer.
    case answer
    /// The account, or the word that it is stored: ``PairingProtocol/transferTime``.
    case transfer
    /// Nothing, it has ended.
    case nothing
}
