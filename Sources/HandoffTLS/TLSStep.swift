/// Where a handshake stands; send what `takeCiphertext` gives in every case, also an alert after a failure.
package enum TLSStep: Equatable, Sendable {
    /// More bytes of the other side are needed.
    case incomplete
    /// Both sides are proved; `peerKey` is known, and `read` and `write` work.
    case done
    /// The session is over.
    case failed(TLSError)
}
