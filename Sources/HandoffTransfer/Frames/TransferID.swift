import HandoffModel

/// Names an unchanged file of a sender, also after its program was started again, so that a cut transfer can go on.
package struct TransferID: FixedBytes {
    package static let byteCount = 16

    package let bytes: [UInt8]

    package init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }
}
