internal import COpenSSL

/// SHA-256 (FIPS 180-4).
package enum SHA256 {
    /// Bytes of a digest.
    package static let byteCount = 32

    /// Digest of `bytes`, 32 bytes (`EVP_Digest`).
    package static func hash(_ bytes: [UInt8]) -> [UInt8] {
        bytes.withUnsafeBytes { hash($0) }
    }

    /// Digest of a slice, 32 bytes.
    package static func hash(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        bytes.withUnsafeBytes { hash($0) }
    }

    /// Digest of a secret, 32 bytes, for a commitment to it.
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
