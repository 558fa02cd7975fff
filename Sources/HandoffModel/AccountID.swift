/// An account: the beginning of the hash of its founder's key and a nonce.
package struct AccountID: FixedBytes {
    package static let byteCount = 16

    package let bytes: [UInt8]

    package init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }
}
