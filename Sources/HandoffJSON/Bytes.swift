import Glibc

extension [UInt8] {
    /// Where a byte occurs first, from a position on (memchr(3)).
    package func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        withUnsafeBufferPointer { $0.firstIndex(of: byte, from: start) }
    }

    /// Lower-case hexadecimal digits, two for each byte, written into the text itself.
    package var hexadecimal: String {
        String(unsafeUninitializedCapacity: 2 * count) { digits in
            for position in indices {
                digits[2 * position] = Self.digit(self[position] >> 4)
                digits[2 * position + 1] = Self.digit(self[position] & 0x0F)
            }
            return 2 * count
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// Feeds the bytes to a hasher, all at once: the array's own `hash` takes them one by one.
    package func hashBytes(into hasher: inout Hasher) {
        withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Where a byte occurs first, from a position on (memchr(3)).
    func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        guard let base = baseAddress, start < count else { return nil }
        let found = memchr(base + start, Int32(byte), count - start)
        return found.map { UnsafePointer($0.assumingMemoryBound(to: UInt8.self)) - base }
    }
}
