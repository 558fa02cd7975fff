/// One stream between the apps of a continuation, as this device calls it: random, and unknown to the other device.
package struct StreamID: FixedBytes {
    package static let byteCount = 16

    package let bytes: [UInt8]

    package init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }
}
