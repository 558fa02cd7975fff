internal import COpenSSL

/// Key derivation with HMAC-SHA-256 (RFC 5869).
package enum HKDF {
    /// HKDF-Expand without HKDF-Extract, for a key that is already uniformly random.
    ///
    /// - Parameters:
    ///   - info: the purpose of the new key.
    ///   - count: bytes of the new key, 1 to 8,160.
    package static func expand(
        _ key: SecretBytes, info: [UInt8], count: Int = 32
    ) throws(CryptoError) -> SecretBytes {
        try run(Int32(EVP_KDF_HKDF_MODE_EXPAND_ONLY), key, salt: [], info: info, count: count)
    }

    /// HKDF-Extract with `salt`, followed by HKDF-Expand with `info`.
    ///
    /// - Parameter count: bytes of the new key, 1 to 8,160.
    package static func derive(
        _ key: SecretBytes, salt: [UInt8], info: [UInt8], count: Int = 32
    ) throws(CryptoError) -> SecretBytes {
        try run(Int32(EVP_KDF_HKDF_MODE_EXTRACT_AND_EXPAND), key, salt: salt, info: info, count: count)
    }

    private static func run(
        _ mode: Int32, _ key: SecretBytes, salt: [UInt8], info: [UInt8], count: Int
    ) throws(CryptoError) -> SecretBytes {
        guard count > 0, count <= 255 * SHA256.byteCount else { throw .wrongLength(of: "derived key", count: count) }
        return try SecretBytes(count: count) { (output: UnsafeMutableRawBufferPointer) throws(CryptoError) in
            let result = key.withUnsafeBytes { key in
                copenssl_hkdf_sha256(
                    Algorithm.hkdf.pointer, mode, key.baseAddress, key.count, salt, salt.count, info, info.count,
                    output.baseAddress, output.count)
            }
            guard result == 1 else { throw .failed("EVP_KDF_derive") }
        }
    }
}
