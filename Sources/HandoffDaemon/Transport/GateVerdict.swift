package import HandoffCrypto

/// What a good token opened: how the connection behind it is to be judged.
package struct GateVerdict: Sendable {
    /// Tells the epoch of the gate key that the token was made with from every other; its number does not. Nil for
    /// the gate key of two devices, which belongs to none.
    package let epoch: UInt64?
    /// Whether the key that the client proves in TLS may be here; reads only values that cannot change under it.
    package let accepts: @Sendable (PublicKey) -> Bool

    /// Makes a verdict.
    package init(epoch: UInt64?, accepts: @escaping @Sendable (PublicKey) -> Bool) {
        self.epoch = epoch
        self.accepts = accepts
    }
}
