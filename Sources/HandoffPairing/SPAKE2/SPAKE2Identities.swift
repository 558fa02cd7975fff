/// What both sides of a SPAKE2 exchange know beside the password; all of it must be equal on both.
package struct SPAKE2Identities: Sendable, Hashable {
    /// Identity of the side that starts, `A`.
    package let a: [UInt8]
    /// Identity of the other side, `B`.
    package let b: [UInt8]
    /// `AAD` of RFC 9382 section 4: bound into the confirmations.
    package let additionalData: [UInt8]

    /// Names both sides and what is bound to the exchange.
    package init(a: [UInt8], b: [UInt8], additionalData: [UInt8]) {
        self.a = a
        self.b = b
        self.additionalData = additionalData
    }
}
