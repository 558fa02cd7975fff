import COpenSSL
import HandoffCrypto

/// A private key of any type with a certificate, for peers that violate our protocol.
final class TestKey {
    enum Kind: CaseIterable {
        case ed25519
        case p256
        case rsa
    }

    let certificate: OpaquePointer
    let key: OpaquePointer

    /// - Parameter dates: the certificate's validity in ASN.1's form, such as "20000101000000Z".
    init(_ kind: Kind = .ed25519, dates: (from: String, to: String) = ("20000101000000Z", "99991231235959Z")) throws {
        OpenSSL.start()
        let made =
            switch kind {
            case .ed25519:
                try SigningKey().withHandle { key -> OpaquePointer? in
                    EVP_PKEY_up_ref(key)
                    return key
                }
            case .p256: copenssl_make_p256_key()
            case .rsa: copenssl_make_rsa_key()
            }
        guard let made, let certificate = X509_new() else { throw CryptoError.failed("EVP_PKEY_keygen") }
        self.certificate = certificate
        key = made
        X509_set_version(certificate, 2)
        ASN1_INTEGER_set(X509_get_serialNumber(certificate), 7)
        ASN1_TIME_set_string_X509(X509_getm_notBefore(certificate), dates.from)
        ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), dates.to)
        X509_set_pubkey(certificate, key)
        guard X509_sign(certificate, key, kind == .ed25519 ? nil : EVP_sha256()) > 0 else {
            throw CryptoError.failed("X509_sign")
        }
    }

    deinit {
        X509_free(certificate)
        EVP_PKEY_free(key)
    }

    /// The public half of an Ed25519 key.
    var publicKey: PublicKey? {
        var raw = [UInt8](repeating: 0, count: 32)
        var count = raw.count
        return EVP_PKEY_get_raw_public_key(key, &raw, &count) == 1 ? PublicKey(raw: raw) : nil
    }
}
