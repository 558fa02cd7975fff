internal import HandoffAccount
internal import HandoffCrypto
internal import HandoffModel

/// What a ``PairingFrame`` carries; the numbers cross the network and never change.
package enum PairingFrameKind: UInt8, Sendable, CaseIterable {
    /// The salt of the window, inviter to joiner.
    case salt = 1
    /// The joiner's share of SPAKE2.
    case shareA = 2
    /// The inviter's share.
    case shareB = 3
    /// The joiner's proof that it knows the code.
    case confirmA = 4
    /// The inviter's proof.
    case confirmB = 5
    /// Who a side is, both ways; sealed.
    case identity = 6
    /// The account, inviter to joiner; sealed.
    case account = 7
    /// The joiner has stored the account; sealed, empty.
    case stored = 8
    /// Why a side ends the session, both ways.
    case refusal = 9

    /// Bytes of body that a frame of this kind may have, compared before anything is kept for it.
    package var bodyCount: ClosedRange<Int> {
        let tag = AESGCM.tagCount
        return switch self {
        case .salt: PairingSalt.byteCount...PairingSalt.byteCount
        case .shareA, .shareB: SPAKE2.shareCount...SPAKE2.shareCount
        case .confirmA, .confirmB: SPAKE2Keys.confirmationCount...SPAKE2Keys.confirmationCount
        case .identity: (PairingIdentity.leastCount + tag)...512
        case .account: (PairedAccount.headerCount + tag)...(RosterLimits.bytes + 64 * 1024)
        case .stored: tag...tag
        case .refusal: 1...3
        }
    }
}
