internal import COpenSSL

/// SHA-256 (FIPS 180-4).
package enum SHA256 {
    /// Digest size in bytes.
    package static let byteCount = 32

    /// Returns the digest of `bytes`, 32 bytes (`EVP_Digest`).
    package static func hash(_ bytes: [UInt8]) -> [UInt8] {
        bytes.withUnsafeBytes { hash($0) }
    }

    /// Returns the digest of a slice, 32 bytes.
    package static func hash(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        bytes.withUnsafeBytes { hash($0) }
    }

    /// Returns the digest of a secret, 32 bytes, for a commitment to it.
    package static func hash(_ secret: SecretBytes) -> [UInt8] {
        secret.withUnsafeBytes { hash($0) }
    }

    private static func hash(_ buffer: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: byteCount) { digest, initialized in
            let result = EVP_Digest(
                buffer.baseAddress, buffer.count, digest.baseAddress, nil, Algorithm.sha256.pointer, nil)
            precondition(result == 1, "EVP_Digest fails only without memory")
            initialized = byteCount
        }
    }
}

/// Computes SHA-256 of bytes that arrive in pieces, such as a file. Use it on one thread at a time.
package final class SHA256Hasher {
    private let context: OpaquePointer

    /// Creates the hash of an empty message (`EVP_DigestInit_ex`).
    package init() {
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, Algorithm.sha256.pointer, nil) == 1 else {
            // If memory is exhausted, Swift itself ends the process.
            preconditionFailure("a digest context fails only without memory")
        }
        self.context = context
    }

    deinit {
        EVP_MD_CTX_free(context)
    }

    /// Adds `bytes` to the message.
    package func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { update($0) }
    }

    /// Adds a slice to the message.
    package func update(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { update($0) }
    }

    /// Adds borrowed memory to the message.
    package func update(_ buffer: UnsafeRawBufferPointer) {
        let result = EVP_DigestUpdate(context, buffer.baseAddress, buffer.count)
        precondition(result == 1, "EVP_DigestUpdate fails only when misused")
    }

    /// Returns the digest of all bytes so far, 32 bytes. More bytes may be added afterwards.
    package func digest() -> [UInt8] {
        guard let copy = EVP_MD_CTX_new(), EVP_MD_CTX_copy_ex(copy, context) == 1 else {
            // If memory is exhausted, Swift itself ends the process.
            preconditionFailure("a digest context fails only without memory")
        }
        defer { EVP_MD_CTX_free(copy) }
        return [UInt8](unsafeUninitializedCapacity: SHA256.byteCount) { digest, initialized in
            precondition(EVP_DigestFinal_ex(copy, digest.baseAddress, nil) == 1, "fails only when misused")
            initialized = SHA256.byteCount
        }
    }
}
