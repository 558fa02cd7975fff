package import HandoffCrypto

/// Reads big-endian fields of a secret. Secret parts stay in protected memory.
package struct SecretReader {
    private let bytes: SecretBytes
    private var position: Int
    private let end: Int

    /// Reads from offset `start` up to `end`, by default to the end of `bytes`.
    package init(_ bytes: SecretBytes, from start: Int = 0, to end: Int? = nil) {
        self.bytes = bytes
        self.end = min(end ?? bytes.count, bytes.count)
        position = min(max(start, 0), self.end)
    }

    /// Number of unread bytes.
    package var remaining: Int {
        end - position
    }

    /// Reads `count` bytes that are not secret.
    package mutating func plain(_ count: Int) throws(FileError) -> [UInt8] {
        guard count >= 0, count <= remaining else { throw .invalid("content is too short") }
        let range = position..<(position + count)
        position += count
        return bytes.withSpan { span in
            var copy: [UInt8] = []
            // Reserve the full capacity: growing would leave copies in memory.
            copy.reserveCapacity(count)
            for index in range { copy.append(span[index]) }
            return copy
        }
    }

    /// Reads `count` secret bytes. The intermediate array is wiped.
    package mutating func secret(_ count: Int) throws(FileError) -> SecretBytes {
        var window = try plain(count)
        return SecretBytes(wiping: &window)
    }

    /// Reads a byte.
    mutating func u8() throws(FileError) -> UInt8 {
        UInt8(truncatingIfNeeded: try integer(1))
    }

    /// Reads 16 bits.
    mutating func u16() throws(FileError) -> UInt16 {
        UInt16(truncatingIfNeeded: try integer(2))
    }

    /// Reads 32 bits.
    mutating func u32() throws(FileError) -> UInt32 {
        UInt32(truncatingIfNeeded: try integer(4))
    }

    /// Reads 64 bits.
    package mutating func u64() throws(FileError) -> UInt64 {
        try integer(8)
    }

    mutating func fingerprint() throws(FileError) -> Fingerprint {
        Fingerprint(checked: try plain(Fingerprint.byteCount))
    }

    /// Throws unless all bytes have been read.
    func finish() throws(FileError) {
        guard remaining == 0 else { throw .invalid("content is too long") }
    }

    private mutating func integer(_ count: Int) throws(FileError) -> UInt64 {
        try plain(count).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
