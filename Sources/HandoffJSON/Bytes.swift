import Glibc

extension [UInt8] {
    /// Returns the index of the first occurrence of `byte` at or after `start` (memchr(3)).
    package func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        withUnsafeBufferPointer { $0.firstIndex(of: byte, from: start) }
    }

    /// The bytes as lower-case hexadecimal, two digits per byte, written directly into the string's
    /// storage.
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

    /// Feeds all bytes to a hasher in one call. The array's own `hash` feeds them one by one.
    package func hashBytes(into hasher: inout Hasher) {
        withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Returns the index of the first occurrence of `byte` at or after `start` (memchr(3)).
    func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        guard let base = baseAddress, start < count else { return nil }
        let found = memchr(base + start, Int32(byte), count - start)
        return found.map { UnsafePointer($0.assumingMemoryBound(to: UInt8.self)) - base }
    }
}
