package import HandoffTLS
package import LoopIO

/// Why a connection between devices has ended.
package enum ConnectionEnd: Error, Equatable, Sendable, CustomStringConvertible {
    /// This side closed it; the text says why.
    case closedHere(String)
    /// The other side closed it in order (close_notify).
    case finished
    /// The TCP connection ended without a word: somebody pulled the plug, or cut it.
    case cut
    /// The server closed before it said anything: it shares no key with this device, has another label,
    /// has had the token before, or is no daemon of ours.
    case refusedAtGate
    /// The TCP connection failed.
    case socket(Errno)
    /// TLS failed, or refused one of the sides.
    case tls(TLSError)
    /// The other side did not finish TLS in time.
    case timedOut
    /// The other side leaves too much unread.
    case notReading

    package var description: String {
        switch self {
        case .closedHere(let reason): reason
        case .finished: "the other side closed the connection"
        case .cut: "the connection was cut"
        case .refusedAtGate: "the other side closed the connection before it said anything"
        case .socket(let error): error.description
        case .tls(let error): error.description
        case .timedOut: "the other side did not finish TLS in time"
        case .notReading: "the other side does not read what it is sent"
        }
    }
}
