import HandoffModel

/// The SHA-256 of a content, 32 bytes.
package struct ContentDigest: FixedBytes {
    package static let byteCount = 32

    package let bytes: [UInt8]

    package init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }
}
