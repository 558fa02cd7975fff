/// What reading from a session into borrowed memory gave.
package enum TLSReadCount: Equatable, Sendable {
    /// This many bytes of plaintext, at least one.
    case bytes(Int)
    /// No whole record is here; feed more ciphertext.
    case wouldBlock
    /// The other side said that it sends no more (close_notify).
    case closed
}
