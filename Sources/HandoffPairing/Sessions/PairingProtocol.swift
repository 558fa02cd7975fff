package import HandoffCrypto

/// Constants of pairing for the driver of a session.
package enum PairingProtocol {
    /// Number of exporter bytes that both sides pass to their sessions: `EXPORTER-Channel-Binding`
    /// of RFC 9266, with an empty context.
    package static let exporterCount = 32
    /// The time limit from accepting or making the connection to the identity of the joiner.
    package static let proofTimeout = Duration.seconds(5)
    /// The time limit from sending the account to the joiner's confirmation that it has stored it.
    package static let transferTimeout = Duration.seconds(30)
    /// The time after the end of the window in which the user's answer is still accepted.
    package static let answerGrace = Duration.seconds(60)

    /// The SPAKE2 identities of both sides. The exporter binds them to the TLS connection, which
    /// prevents a man in the middle.
    static func identities(_ exporter: [UInt8]) -> SPAKE2Identities {
        SPAKE2Identities(
            a: Array("handoff/1 joiner".utf8), b: Array("handoff/1 inviter".utf8),
            additionalData: Array("handoff/1 pair".utf8) + exporter)
    }
}

/// A side of a pairing session. The numbers are signed and part of nonces, and never change.
package enum PairingRole: UInt8, Sendable, CaseIterable {
    /// The new device, which connects; `A` of SPAKE2.
    case joiner = 0
    /// The member, which listens; `B` of SPAKE2.
    case inviter = 1

    /// The opposite side.
    var other: PairingRole {
        switch self {
        case .joiner: .inviter
        case .inviter: .joiner
        }
    }
}

/// The event that a session waits for, which determines the driver's timeout.
enum PairingWait: Sendable, Hashable {
    /// The proofs of code and identity: ``PairingProtocol/proofTimeout`` from the start of the
    /// connection.
    case proof
    /// The user of the inviter: until ``PairingProtocol/answerGrace`` after the end of the window.
    case answer
    /// The account, or the confirmation that it is stored: ``PairingProtocol/transferTimeout``.
    case transfer
    /// Nothing, because the session has ended.
    case nothing
}

/// The end of a session. The driver closes the connection after sending pending bytes.
package enum PairingEnd: Sendable, Equatable {
    /// The joiner has stored the account and has confirmed it to the inviter.
    case finished
    /// This side refused and has sent the refusal.
    case refused(PairingRefusal)
    /// The peer refused.
    case refusedByPeer(PairingRefusal)
    /// The inviter does not know the code, or there is a man in the middle. The joiner must not try
    /// this code again.
    case wrongConfirmation
    /// The peer violated the protocol.
    case violation(PairingViolation)
    /// A local cryptographic operation failed.
    case failed(CryptoError)
}
