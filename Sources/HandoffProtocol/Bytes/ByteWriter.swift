/// Writes big-endian fields; the counterpart of ``ByteReader``.
package struct ByteWriter: Sendable {
    /// The bytes written so far.
    package private(set) var bytes: [UInt8] = []

    /// Creates an empty writer with room for `capacity` bytes.
    package init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    package var count: Int {
        bytes.count
    }

    package mutating func u8(_ value: UInt8) {
        bytes.append(value)
    }

    package mutating func u16(_ value: UInt16) {
        integer(UInt64(value), byteCount: 2)
    }

    package mutating func u32(_ value: UInt32) {
        integer(UInt64(value), byteCount: 4)
    }

    package mutating func u64(_ value: UInt64) {
        integer(value, byteCount: 8)
    }

    /// Writes bytes unchanged, without a length.
    package mutating func raw(_ more: some Collection<UInt8>) {
        bytes.append(contentsOf: more)
    }

    /// Writes the UTF-8 bytes of `text`, without a length.
    package mutating func text(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    /// Writes zeros up to a total of `count` bytes. Does nothing if there are already as many.
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
