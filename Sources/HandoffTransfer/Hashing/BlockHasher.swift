import HandoffModel

/// Computes the digest by which two devices compare the beginning of a file.
///
/// SHA-256 over each block of 4,096 bytes that contains a byte other than zero, behind its offset (u64, big-endian), and in the end
/// over the length (u64, big-endian). A block of zeros adds nothing, so a hole need not be read. Holes and zeros are equal, since each
/// file system places holes in its own way.
package struct BlockHasher: Sendable {
    /// Bytes of a block: the smallest unit in which file systems allocate.
    package static let block: Int64 = 4096

    private var hasher = SHA256Hasher()

    /// Starts with nothing.
    package init() {}

    /// Adds bytes of the file at an offset that is a multiple of `block`; only the last bytes of the file may be less than a block.
    package mutating func update(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        for start in stride(from: 0, to: bytes.count, by: Int(Self.block)) {
            let block = UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + Int(Self.block), bytes.count)])
            guard !Self.isZero(block) else { continue }
            add(offset + Int64(start))
            hasher.update(block)
        }
    }

    /// The digest of a file's first `length` bytes.
    package func digest(length: Int64) -> ContentDigest {
        var copy = self
        copy.add(length)
        return copy.hasher.digest()
    }

    /// The digest of bytes that are in memory as a whole.
    package static func digest(of bytes: some Sequence<UInt8>) -> ContentDigest {
        let all = Array(bytes)
        var hasher = BlockHasher()
        all.withUnsafeBytes { hasher.update($0, at: 0) }
        return hasher.digest(length: Int64(all.count))
    }

    private mutating func add(_ number: Int64) {
        withUnsafeBytes(of: number.bigEndian) { hasher.update($0) }
    }

    /// Eight bytes at a time: a byte at a time would cost more than the hash.
    private static func isZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let words = bytes.count / 8
        for word in 0..<words where bytes.loadUnaligned(fromByteOffset: word * 8, as: UInt64.self) != 0 { return false }
        return bytes[(words * 8)...].allSatisfy { $0 == 0 }
    }
}
