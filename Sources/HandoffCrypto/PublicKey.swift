internal import COpenSSL

/// An Ed25519 public key (RFC 8032): the identity of a device or of a ticket.
package struct PublicKey: Hashable, Sendable {
    /// Key size in bytes.
    package static let byteCount = 32
    /// Signature size in bytes.
    package static let signatureCount = 64
    /// The DER bytes before the key in a SubjectPublicKeyInfo: SEQUENCE, algorithm 1.3.101.112, BIT
    /// STRING (RFC 8410 section 4).
    private static let prefix: [UInt8] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00]

    /// The key as RFC 8032 encodes it, 32 bytes.
    package let raw: [UInt8]

    /// Creates a key from its 32 bytes. Returns nil for any other length.
    package init?(raw: some Collection<UInt8>) {
        guard raw.count == Self.byteCount else { return nil }
        self.raw = Array(raw)
    }

    /// Creates a key from DER. Returns nil unless it is exactly the 44 bytes of RFC 8410, so that
    /// every key has one encoding.
    package init?(subjectPublicKeyInfo: [UInt8]) {
        guard subjectPublicKeyInfo.starts(with: Self.prefix) else { return nil }
        self.init(raw: subjectPublicKeyInfo.dropFirst(Self.prefix.count))
    }

    /// The key as DER, 44 bytes. Its SHA-256 is the id of a device.
    package var subjectPublicKeyInfo: [UInt8] {
        Self.prefix + raw
    }

    /// Returns true if `signature` over `bytes` was created with the private half
    /// (`EVP_DigestVerify`, about 130 us).
    package func isValidSignature(_ signature: [UInt8], for bytes: [UInt8]) -> Bool {
        OpenSSL.start()
        guard signature.count == Self.signatureCount,
            let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, raw, raw.count)
        else { return false }
        defer { EVP_PKEY_free(key) }
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        let isValid =
            EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1
            && EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
        if !isValid { ERR_clear_error() }
        return isValid
    }
}
