internal import COpenSSL

/// Errors that prevent a TLS session or end it.
package enum TLSError: Error, Equatable, Sendable, CustomStringConvertible {
    /// OpenSSL rejected `call` because of a local problem: lack of memory, or misuse.
    case library(CryptoError)
    /// The peer violated the protocol, or uses an unsupported one. `detail` is OpenSSL's text.
    case protocolViolation(detail: String)
    /// The peer ended the session with this alert (RFC 8446 section 6.2). It may have rejected our
    /// certificate.
    case alert(UInt8)
    /// The peer proved a key that `accepts` rejects.
    case keyNotAccepted
    /// The peer's chain is not exactly one certificate with an Ed25519 key.
    case unsuitableCertificate
    /// The peer does not support our application protocol (ALPN).
    case wrongApplicationProtocol
    /// One side requested a second hello. This is never necessary, because the client sends a share
    /// for each group.
    case helloRetryRequest

    package var description: String {
        switch self {
        case .library(let error): error.description
        case .protocolViolation(let detail): "TLS failed: \(detail)"
        case .alert(let code): "the other side ended TLS with alert \(code)"
        case .keyNotAccepted: "the other side's key is not accepted"
        case .unsuitableCertificate: "the other side did not send a single Ed25519 certificate"
        case .wrongApplicationProtocol: "the other side does not support our protocol"
        case .helloRetryRequest: "the handshake requests a second hello"
        }
    }

    /// Returns the error of the failed SSL call from this thread's error queue, and empties the
    /// queue.
    static func takeFromQueue() -> TLSError {
        let alert = copenssl_received_alert(ERR_peek_error())
        let detail = OpenSSL.takeErrors()
        if let code = UInt8(exactly: alert) { return .alert(code) }
        return .protocolViolation(detail: detail)
    }
}
