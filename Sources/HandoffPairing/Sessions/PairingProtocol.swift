/// Constants of pairing that the driver of a session needs.
package enum PairingProtocol {
    /// The one protocol that is offered and taken in TLS.
    package static let alpn = "handoff-pair/1"
    /// Label of the exporter that both sides give to their sessions (RFC 9266); the context is empty.
    package static let exporterLabel = "EXPORTER-Channel-Binding"
    /// Bytes of the exporter.
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
