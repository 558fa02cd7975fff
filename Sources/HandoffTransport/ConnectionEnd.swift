package import HandoffCrypto
package import LoopIO

/// The reason a connection between devices ended.
package enum ConnectionEnd: Error, Equatable, Sendable, CustomStringConvertible {
    /// This side closed it, for the reason in the text.
    case closedLocally(String)
    /// The peer closed it properly (close_notify).
    case finished
    /// The TCP connection ended without close_notify: it was interrupted or cut.
    case cut
    /// The server closed the connection without sending anything. It shares no key with this
    /// device, has another label, has already received the token, or is not a Handoff daemon.
    case refusedAtGate
    /// The TCP connection failed.
    case socket(Errno)
    /// TLS failed, or one side rejected the other.
    case tls(TLSError)
    /// The peer did not complete the TLS handshake in time.
    case timedOut
    /// The peer has too much unread data.
    case notReading

    package var description: String {
        switch self {
        case .closedLocally(let reason): reason
        case .finished: "the other side closed the connection"
        case .cut: "the connection was cut"
        case .refusedAtGate: "the other side closed the connection without sending anything"
        case .socket(let error): error.description
        case .tls(let error): error.description
        case .timedOut: "the TLS handshake timed out"
        case .notReading: "the other side stopped reading"
        }
    }
}
