package import HandoffCrypto

/// How a session ended; the driver closes the connection after sending what came before.
package enum PairingEnd: Sendable, Equatable {
    /// The joiner has stored the account, and the inviter knows it.
    case finished
    /// This side refused, and has said so.
    case refused(PairingRefusal)
    /// The other side refused.
    case refusedByPeer(PairingRefusal)
    /// The inviter does not know the code, or someone stands in between: the joiner must not try this code again.
    case wrongConfirmation
    /// The other side broke the protocol.
    case violation(PairingViolation)
    /// Our cryptography could not be done.
    case failed(CryptoError)
}
