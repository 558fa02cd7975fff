import Glibc

extension [UInt8] {
    /// Where a byte occurs first, from a position on (memchr(3)).
    package func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        withUnsafeBufferPointer { $0.firstIndex(of: byte, from: start) }
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
