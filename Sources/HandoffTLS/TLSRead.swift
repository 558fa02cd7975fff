/// What reading from a session gave.
package enum TLSRead: Equatable, Sendable {
    /// Plaintext, at least one byte.
    case bytes([UInt8])
    /// No whole record is here; feed more ciphertext.
    case wouldBlock
    /// The other side said that it sends no more (close_notify). The end of the TCP stream without it is a cut.
    case closed
}
