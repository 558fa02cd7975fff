/// Writes big-endian fields; the counterpart of ``ByteReader``.
package struct ByteWriter: Sendable {
    /// All that has been written.
    package private(set) var bytes: [UInt8] = []

    /// Starts empty, with room for `capacity` bytes.
    package init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    /// Number of bytes written.
    package var count: Int {
        bytes.count
    }

    /// Writes one byte.
    package mutating func u8(_ value: UInt8) {
        bytes.append(value)
    }

    /// Writes a 16-bit unsigned integer.
    package mutating func u16(_ value: UInt16) {
        integer(UInt64(value), byteCount: 2)
    }

    /// Writes a 32-bit unsigned integer.
    package mutating func u32(_ value: UInt32) {
        integer(UInt64(value), byteCount: 4)
    }

    /// Writes a 64-bit unsigned integer.
    package mutating func u64(_ value: UInt64) {
        integer(value, byteCount: 8)
    }

    /// Writes bytes as they are, without a length.
    package mutating func raw(_ more: some Collection<UInt8>) {
        bytes.append(contentsOf: more)
    }

    /// Writes the UTF-8 bytes of `text`, without a length.
    package mutating func text(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    /// Writes zeros until `count` bytes have been written in all; does nothing when there are as many already.
    package mutating func pad(to count: Int) {
        let missing = count &- bytes.count
        guard missing > 0 else { return }
        bytes.append(contentsOf: repeatElement(0, count: missing))
    }

    private mutating func integer(_ value: UInt64, byteCount: Int) {
        for index in (0..<byteCount).reversed() {
            bytes.append(UInt8(truncatingIfNeeded: value >> (8 * UInt64(index))))
        }
    }
}
