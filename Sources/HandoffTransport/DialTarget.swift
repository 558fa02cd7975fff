package import HandoffCrypto
package import LoopIO

/// The device to call, and its possible addresses.
package struct DialTarget {
    /// The addresses at which the device may listen, the most likely one first.
    var candidates: [SocketAddress]
    /// Returns the bytes to send before the given ClientHello record: the token that opens the
    /// peer's gate (`Gate.token`), or no bytes. Returns nil if another record is needed.
    package var token: (_ clientHello: [UInt8]) -> [UInt8]?
    /// Returns true if the owner of this key is accepted as the peer. It must read only values that
    /// cannot change concurrently.
    var accepts: @Sendable (PublicKey) -> Bool

    /// Creates the description of a call.
    package init(
        candidates: [SocketAddress], token: @escaping (_ clientHello: [UInt8]) -> [UInt8]?,
        accepts: @escaping @Sendable (PublicKey) -> Bool
    ) {
        self.candidates = candidates
        self.token = token
        self.accepts = accepts
    }
}
