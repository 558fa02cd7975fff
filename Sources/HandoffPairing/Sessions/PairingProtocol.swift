package import HandoffCrypto

/// Constants of pairing that the driver of a session needs.
package enum PairingProtocol {
    /// Bytes of the exporter that both sides give to their sessions: `EXPORTER-Channel-Binding` of RFC 9266, with an empty
    /// context.
    package static let exporterCount = 32
    /// From accepting or making the connection to the identity of the joiner.
    package static let proofTime = Duration.seconds(5)
    /// From handing the account over to the joiner's word that it has stored it.
    package static let transferTime = Duration.seconds(30)
    /// How long a window is open.
    package static let windowTime = Duration.seconds(180)
    /// How long after the end of the window the user's answer still counts.
    package static let answerGrace = Duration.seconds(60)

    /// What both sides put into SPAKE2; the exporter binds it to the TLS connection, so that nobody stands in between.
    static func identities(_ exporter: [UInt8]) -> SPAKE2Identities {
        SPAKE2Identities(
            a: Array("handoff/1 joiner".utf8), b: Array("handoff/1 inviter".utf8),
            additionalData: Array("handoff/1 pair".utf8) + exporter)
    }
}

/// A side of a pairing session; the numbers are signed and part of nonces, and never change.
package enum PairingRole: UInt8, Sendable, CaseIterable {
    /// The new device, which calls; `A` of SPAKE2.
    case joiner = 0
    /// The member, which listens; `B` of SPAKE2.
    case inviter = 1

    /// The side at the other end.
    package var other: PairingRole {
        switch self {
        case .joiner: .inviter
        case .inviter: .joiner
        }
    }
}

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
