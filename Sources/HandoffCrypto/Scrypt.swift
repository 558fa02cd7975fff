internal import COpenSSL

/// Slow key derivation from a text that a user types (RFC 7914).
package struct Scrypt: Sendable {
    /// The purpose of a key. Keys for different purposes are unrelated, even for the same text and
    /// salt.
    package enum Purpose: String, Sendable {
        /// The password of a pairing by digits.
        case pairing = "pair"
        /// The key of an account file.
        case file
    }

    /// The parameters of the protocol: N = 2^16, r = 8, p = 1. They need 64 MiB and about 0.2 s, so
    /// run the derivation on a worker. They are fixed, so that neither a malicious inviter nor a
    /// file can demand more work.
    package static let standard = Scrypt(n: 1 << 16, r: 8, p: 1)
    /// Parameters without any protection, for tests that are not about scrypt.
    package static let trivial = Scrypt(n: 2, r: 8, p: 1)

    private let n: UInt64
    private let r: UInt64
    private let p: UInt64

    /// Creates custom parameters, for the examples of the RFC.
    ///
    /// - Parameters:
    ///   - n: cost, a power of two above 1.
    ///   - r: block size.
    ///   - p: parallelism. Memory is 128 x r x (n + p) bytes; more than 1 GiB is rejected.
    package init(n: UInt64, r: UInt64, p: UInt64) {
        self.n = n
        self.r = r
        self.p = p
    }

    /// Derives a key of `count` bytes from UTF-8 text, which is used unmodified, and 16 random
    /// bytes.
    package func key(
        from text: SecretBytes, for purpose: Purpose, salt: [UInt8], count: Int
    ) throws(CryptoError) -> SecretBytes {
        try derive(from: text, salt: Array("handoff/1 \(purpose.rawValue)".utf8) + salt, count: count)
    }

    /// Derives `count` bytes (`EVP_PBE_scrypt`).
    package func derive(from passphrase: SecretBytes, salt: [UInt8], count: Int) throws(CryptoError) -> SecretBytes {
        OpenSSL.start()
        let maxMemory: UInt64 = 1 << 30
        return try SecretBytes(count: count) { (output: UnsafeMutableRawBufferPointer) throws(CryptoError) in
            let result = passphrase.withUnsafeBytes { passphrase in
                EVP_PBE_scrypt(
                    passphrase.baseAddress?.assumingMemoryBound(to: CChar.self), passphrase.count, salt, salt.count, n,
                    r, p, maxMemory, output.baseAddress?.assumingMemoryBound(to: UInt8.self), output.count)
            }
            guard result == 1 else { throw .failed("EVP_PBE_scrypt") }
        }
    }
}
