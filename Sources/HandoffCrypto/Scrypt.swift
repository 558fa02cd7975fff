internal import COpenSSL

/// Slow key derivation from a short secret (RFC 7914).
package enum Scrypt {
    /// Derives `count` bytes (`EVP_PBE_scrypt`); takes about 90 ms at n = 2^15, so call it on a worker.
    ///
    /// - Parameters:
    ///   - n: cost, a power of two above 1.
    ///   - r: block size.
    ///   - p: parallelism. Memory is 128 x r x (n + p) bytes; more than 1 GiB is refused.
    ///   - count: bytes of the derived key.
    package static func derive(
        passphrase: SecretBytes, salt: [UInt8], n: UInt64, r: UInt64, p: UInt64, count: Int
    ) throws(CryptoError) -> SecretBytes {
        OpenSSL.start()
        let maximumMemory: UInt64 = 1 << 30
        return try SecretBytes(count: count) { (output: UnsafeMutableRawBufferPointer) throws(CryptoError) in
            let result = passphrase.withUnsafeBytes { passphrase in
                EVP_PBE_scrypt(
                    passphrase.baseAddress?.assumingMemoryBound(to: CChar.self), passphrase.count, salt, salt.count, n,
                    r, p, maximumMemory, output.baseAddress?.assumingMemoryBound(to: UInt8.self), output.count)
            }
            guard result == 1 else { throw .failed("EVP_PBE_scrypt") }
        }
    }
}
