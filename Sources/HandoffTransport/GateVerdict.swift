package import HandoffCrypto

/// What a good token opened: how the connection behind it is to be judged.
package struct GateVerdict: Sendable {
    /// Whether the key that the client proves in TLS may be here; reads only values that cannot change under it.
    package let accepts: @Sendable (PublicKey) -> Bool

    /// Whether the client may be here to introduce itself alone: then it opens no streams.
    package let isIntroduction: Bool

    /// Makes a verdict.
    package init(isIntroduction: Bool = false, accepts: @escaping @Sendable (PublicKey) -> Bool) {
        self.isIntroduction = isIntroduction
        self.accepts = accepts
    }
}
