/// An activity, from publication to withdrawal: random, never used again.
package struct ActivityID: FixedBytes {
    package static let byteCount = 16

    package let bytes: [UInt8]

    package init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }
}
