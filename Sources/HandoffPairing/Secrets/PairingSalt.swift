internal import HandoffCrypto

/// Random bytes of a window that make its codes unlike those of all others; no secret.
package struct PairingSalt: Hashable, Sendable {
    /// Bytes of a salt.
    package static let byteCount = 16

    /// The bytes, exactly `byteCount`.
    package let bytes: [UInt8]

    /// A new salt.
    package init() {
        bytes = Randomness.bytes(Self.byteCount)
    }

    /// A salt that was received; `nil` for another length.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }
}
