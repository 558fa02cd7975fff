internal import COpenSSL

/// X25519 (RFC 7748) between two Ed25519 keys, mapped to Curve25519.
///
/// Using one key for signatures and key agreement is sound because each use has its own hash over
/// its own inputs. Signed messages start with a text, and the shared secret is only used as an
/// input of HKDF.
extension SigningKey {
    /// Secret size in bytes.
    static let sharedSecretCount = 32

    /// Returns the secret that only the owners of the two keys can compute. Use it as an input of a
    /// key derivation only.
    ///
    /// The private half is the first half of SHA-512 of the seed, clamped, which is the scalar that
    /// signs (RFC 8032 section 5.1.5). The public half is mapped by `PublicKey.montgomery`
    /// (`EVP_PKEY_derive`, about 60 us).
    ///
    /// - Throws: if the key is not a point, or is one of the few that result in the same secret
    ///   with every other key.
    package func sharedSecret(with other: PublicKey) throws(CryptoError) -> SecretBytes {
        OpenSSL.start()
        guard let coordinate = other.montgomery else { throw .failed("mapping to Curve25519") }
        let own = try agreementKey()
        defer { EVP_PKEY_free(own) }
        guard let theirs = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nil, coordinate, coordinate.count) else {
            throw .failed("EVP_PKEY_new_raw_public_key")
        }
        defer { EVP_PKEY_free(theirs) }
        let context = EVP_PKEY_CTX_new(own, nil)
        defer { EVP_PKEY_CTX_free(context) }
        return try SecretBytes(count: Self.sharedSecretCount) {
            (output: UnsafeMutableRawBufferPointer) throws(CryptoError) in
            var count = output.count
            let bytes = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
            // OpenSSL rejects a result of zeros, as RFC 7748 section 6.1 requires: the other key
            // has a small order.
            guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer(context, theirs) == 1,
                EVP_PKEY_derive(context, bytes, &count) == 1, count == output.count
            else { throw .failed("EVP_PKEY_derive") }
        }
    }

    /// Returns the private key on Curve25519 (`EVP_PKEY_new_raw_private_key`, which clamps). The
    /// caller must free it.
    private func agreementKey() throws(CryptoError) -> OpaquePointer {
        let hash = try SecretBytes(count: 2 * Self.seedCount) {
            (output: UnsafeMutableRawBufferPointer) throws(CryptoError) in
            let isHashed = seed.withUnsafeBytes { seed in
                EVP_Digest(
                    seed.baseAddress, seed.count, output.baseAddress?.assumingMemoryBound(to: UInt8.self), nil,
                    EVP_sha512(), nil)
            }
            guard isHashed == 1 else { throw .failed("EVP_Digest") }
        }
        let key = hash.withUnsafeBytes { hash in
            EVP_PKEY_new_raw_private_key(
                EVP_PKEY_X25519, nil, hash.baseAddress?.assumingMemoryBound(to: UInt8.self), Self.seedCount)
        }
        guard let key else { throw .failed("EVP_PKEY_new_raw_private_key") }
        return key
    }
}

extension PublicKey {
    /// The u coordinate of the same point on Curve25519, `(1 + y) / (1 - y)` mod 2^255 - 19, 32
    /// bytes little-endian (RFC 7748 section 4.1); nil for the neutral element, which has none, and
    /// for bytes that are not a reduced coordinate.
    package var montgomery: [UInt8]? {
        var littleEndian = raw
        // The highest bit is the sign of x, on which u does not depend.
        littleEndian[littleEndian.count - 1] &= 0x7F
        return Self.montgomery(of: littleEndian)
    }

    private static func montgomery(of y: [UInt8]) -> [UInt8]? {
        guard let arithmetic = BN_CTX_new() else { return nil }
        defer { BN_CTX_free(arithmetic) }
        BN_CTX_start(arithmetic)
        defer { BN_CTX_end(arithmetic) }
        // If one of these calls fails, all later ones fail too.
        let (prime, numerator) = (BN_CTX_get(arithmetic), BN_CTX_get(arithmetic))
        let (denominator, inverse) = (BN_CTX_get(arithmetic), BN_CTX_get(arithmetic))
        guard let one = BN_CTX_get(arithmetic), let y = BN_lebin2bn(y, Int32(byteCount), nil) else { return nil }
        defer { BN_free(y) }
        var result = [UInt8](repeating: 0, count: byteCount)
        let isMapped =
            BN_set_bit(prime, 255) == 1 && BN_sub_word(prime, 19) == 1 && BN_cmp(y, prime) < 0
            && BN_set_word(one, 1) == 1 && BN_mod_add(numerator, one, y, prime, arithmetic) == 1
            && BN_mod_sub(denominator, one, y, prime, arithmetic) == 1
            && BN_mod_inverse(inverse, denominator, prime, arithmetic) != nil
            && BN_mod_mul(numerator, numerator, inverse, prime, arithmetic) == 1
            && BN_bn2lebinpad(numerator, &result, Int32(byteCount)) == Int32(byteCount)
        if !isMapped { ERR_clear_error() }
        return isMapped ? result : nil
    }
}
