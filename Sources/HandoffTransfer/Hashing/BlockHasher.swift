import HandoffModel

/// Computes the digest that two devices compare for the beginning of a file.
///
/// The digest is SHA-256 over each block of 4,096 bytes that contains a byte other than zero,
/// preceded by its offset (u64, big-endian), followed by the total length (u64, big-endian). A
/// block of zeros contributes nothing, so a hole need not be read. Holes and zeros are equal
/// because each file system places holes differently.
package struct BlockHasher: Sendable {
    /// Bytes of a block: the smallest allocation unit of file systems.
    static let block: Int64 = 4096

    private var hasher = SHA256Hasher()

    init() {}

    /// Adds bytes of the file at an offset that is a multiple of `block`. Only the last bytes of
    /// the file may be shorter than a block.
    mutating func update(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        for start in stride(from: 0, to: bytes.count, by: Int(Self.block)) {
            let block = UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + Int(Self.block), bytes.count)])
            guard !Self.isZero(block) else { continue }
            add(offset + Int64(start))
            hasher.update(block)
        }
    }

    /// Returns the digest of the file's first `length` bytes.
    package func digest(length: Int64) -> ContentDigest {
        var copy = self
        copy.add(length)
        return copy.hasher.digest()
    }

    /// Returns the digest of bytes in memory.
    package static func digest(of bytes: some Sequence<UInt8>) -> ContentDigest {
        let all = Array(bytes)
        var hasher = BlockHasher()
        all.withUnsafeBytes { hasher.update($0, at: 0) }
        return hasher.digest(length: Int64(all.count))
    }

    private mutating func add(_ number: Int64) {
        withUnsafeBytes(of: number.bigEndian) { hasher.update($0) }
    }

    /// Compares eight bytes at a time: one at a time would cost more than the hash.
    private static func isZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let words = bytes.count / 8
        for word in 0..<words where bytes.loadUnaligned(fromByteOffset: word * 8, as: UInt64.self) != 0 { return false }
        return bytes[(words * 8)...].allSatisfy { $0 == 0 }
    }
}
