/// A device: SHA-256 of the subject public key info of its Ed25519 key.
package struct DeviceID: FixedBytes {
    package static let byteCount = 32

    package let bytes: [UInt8]

    package init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }
}
