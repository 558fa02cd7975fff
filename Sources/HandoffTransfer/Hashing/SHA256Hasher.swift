import CNettle
import HandoffModel

/// Incremental SHA-256 (FIPS 180-4), computed by Nettle. Copies are independent, so the digest of a
/// beginning can be computed without finishing the whole.
package struct SHA256Hasher: Sendable {
    private var context = sha256_ctx()

    package init() {
        cnettle_sha256_init(&context)
    }

    package mutating func update(_ bytes: some Sequence<UInt8>) {
        let done: Void? = bytes.withContiguousStorageIfAvailable { add(UnsafeRawBufferPointer($0)) }
        if done == nil { Array(bytes).withUnsafeBytes { add($0) } }
    }

    /// Adds bytes of borrowed memory.
    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        add(bytes)
    }

    /// Returns the digest of all bytes so far. More can be added afterwards.
    package func digest() -> ContentDigest {
        var copy = context
        var digest = [UInt8](repeating: 0, count: ContentDigest.byteCount)
        cnettle_sha256_digest(&copy, &digest)
        return ContentDigest(checked: digest)
    }

    /// Returns the digest of bytes in memory.
    package static func digest(of bytes: some Sequence<UInt8>) -> ContentDigest {
        var hasher = SHA256Hasher()
        hasher.update(bytes)
        return hasher.digest()
    }

    private mutating func add(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
        cnettle_sha256_update(&context, bytes.count, start)
    }
}

/// The SHA-256 digest of content, 32 bytes.
package struct ContentDigest: FixedBytes {
    package static let byteCount = 32

    package let bytes: [UInt8]

    package init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }
}
