internal import COpenSSL

/// An Ed25519 private key (RFC 8032).
package final class SigningKey: Sendable {
    /// Seed size in bytes.
    package static let seedCount = 32

    /// The public half, which identifies this key to others.
    package let publicKey: PublicKey
    /// The seed, to be stored. `init(seed:)` creates the same key from it.
    package let seed: SecretBytes
    private let key: SharedHandle

    /// Generates a key from a random seed.
    package convenience init() throws(CryptoError) {
        try self.init(seed: SecretBytes(random: Self.seedCount))
    }

    /// Creates the key of a stored seed of 32 bytes (`EVP_PKEY_new_raw_private_key`).
    package init(seed: SecretBytes) throws(CryptoError) {
        guard seed.count == Self.seedCount else { throw .wrongLength(of: "Ed25519 seed", count: seed.count) }
        OpenSSL.start()
        let created = seed.withUnsafeBytes { seed in
            EVP_PKEY_new_raw_private_key(
                EVP_PKEY_ED25519, nil, seed.baseAddress?.assumingMemoryBound(to: UInt8.self), seed.count)
        }
        guard let created else { throw .failed("EVP_PKEY_new_raw_private_key") }
        key = SharedHandle(created, free: EVP_PKEY_free)
        var raw = [UInt8](repeating: 0, count: PublicKey.byteCount)
        var count = raw.count
        guard EVP_PKEY_get_raw_public_key(created, &raw, &count) == 1, let publicKey = PublicKey(raw: raw) else {
            throw .failed("EVP_PKEY_get_raw_public_key")
        }
        self.publicKey = publicKey
        self.seed = seed
    }

    /// Returns the signature over `bytes`, 64 bytes (`EVP_DigestSign`, about 50 us).
    ///
    /// Each kind of message starts with a distinct text, so that a signature of one kind is not
    /// valid for another.
    package func sign(_ bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: PublicKey.signatureCount)
        var count = signature.count
        guard EVP_DigestSignInit(context, nil, nil, nil, key.pointer) == 1,
            EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1
        else { throw .failed("EVP_DigestSign") }
        return signature
    }

    /// Calls `body` with OpenSSL's object (EVP_PKEY), for a certificate or a TLS context. It must
    /// not be changed.
    package func withHandle<R, E: Error>(_ body: (OpaquePointer) throws(E) -> R) throws(E) -> R {
        try body(key.pointer)
    }
}
