internal import COpenSSL
package import HandoffCrypto

/// Why a TLS session could not be made or cannot go on; every case ends the session.
package enum TLSError: Error, Equatable, Sendable, CustomStringConvertible {
    /// OpenSSL refused `call` for a reason of ours: memory, or misuse.
    case library(CryptoError)
    /// The other side broke the protocol, or speaks none that we take; `detail` is OpenSSL's text.
    case protocolViolation(detail: String)
    /// The other side ended the session with this alert (RFC 8446 section 6.2); it may not accept our certificate.
    case alert(UInt8)
    /// The other side proved a key that `accepts` refuses.
    case keyNotAccepted
    /// The other side's chain is not exactly one certificate with an Ed25519 key.
    case unsuitableCertificate
    /// The other side does not speak our application protocol (ALPN).
    case wrongApplicationProtocol
    /// One side asked for a second hello; with one group there is never a reason for it.
    case helloRetryRequest

    package var description: String {
        switch self {
        case .library(let error): error.description
        case .protocolViolation(let detail): "TLS failed: \(detail)"
        case .alert(let code): "the other side ended TLS with alert \(code)"
        case .keyNotAccepted: "the other side's key is not accepted"
        case .unsuitableCertificate: "the other side's certificate is not a single Ed25519 one"
        case .wrongApplicationProtocol: "the other side does not speak our protocol"
        case .helloRetryRequest: "the handshake asks for a second hello"
        }
    }

    /// What the error queue of this thread says about the SSL call that has just failed; empties the queue.
    static func takeFromQueue() -> TLSError {
        let alert = copenssl_received_alert(ERR_peek_error())
        let detail = OpenSSL.takeErrors()
        if let code = UInt8(exactly: alert) { return .alert(code) }
        return .protocolViolation(detail: detail)
    }
}
