import CNettle
import HandoffModel

/// SHA-256 over bytes that come in pieces (FIPS 180-4), by Nettle. A value: a copy goes on by itself, so that the digest of a
/// beginning can be taken without ending the whole.
package struct SHA256Hasher: Sendable {
    private var context = sha256_ctx()

    /// Starts with no bytes.
    package init() {
        cnettle_sha256_init(&context)
    }

    /// Adds bytes.
    package mutating func update(_ bytes: some Sequence<UInt8>) {
        let done: Void? = bytes.withContiguousStorageIfAvailable { add(UnsafeRawBufferPointer($0)) }
        if done == nil { Array(bytes).withUnsafeBytes { add($0) } }
    }

    /// Adds borrowed memory.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        add(bytes)
    }

    /// The digest of all bytes so far; more can be added afterwards.
    package func digest() -> ContentDigest {
        var copy = context
        var digest = [UInt8](repeating: 0, count: ContentDigest.byteCount)
        cnettle_sha256_digest(&copy, &digest)
        return ContentDigest(checked: digest)
    }

    /// The digest of bytes that are there as a whole.
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

/// The SHA-256 of a content, 32 bytes.
package struct ContentDigest: FixedBytes {
    package static let byteCount = 32

    package let bytes: [UInt8]

    package init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }
}
