package import HandoffCrypto

/// The admission check for the connection that a valid token has opened.
package struct GateVerdict: Sendable {
    /// Returns true if the key that the client proves in TLS is accepted. It must read only values
    /// that cannot change concurrently.
    let accepts: @Sendable (PublicKey) -> Bool

    /// True if the client may only introduce itself. It may not open streams then.
    let isIntroduction: Bool

    /// Creates a verdict.
    package init(isIntroduction: Bool = false, accepts: @escaping @Sendable (PublicKey) -> Bool) {
        self.isIntroduction = isIntroduction
        self.accepts = accepts
    }
}
