package import HandoffCrypto
package import LoopIO

/// Whom to call, and where they may be.
package struct DialTarget {
    /// Where the other side may listen, the most likely one first.
    package var candidates: [SocketAddress]
    /// Makes what stands before this ClientHello record: the bytes that open the other side's gate (`Gate.token`), or
    /// nothing; nil when another record is needed.
    package var token: (_ clientHello: [UInt8]) -> [UInt8]?
    /// Whether the other side may be the owner of this key; reads only values that cannot change under it.
    package var accepts: @Sendable (PublicKey) -> Bool

    /// Describes a call.
    package init(
        candidates: [SocketAddress], token: @escaping (_ clientHello: [UInt8]) -> [UInt8]?,
        accepts: @escaping @Sendable (PublicKey) -> Bool
    ) {
        self.candidates = candidates
        self.token = token
        self.accepts = accepts
    }
}
