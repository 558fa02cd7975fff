internal import COpenSSL

/// A device's key with the self-signed certificate that carries it in TLS.
///
/// The certificate contains no information except the key: serial number, name and dates are fixed,
/// and neither side checks them. Ed25519 signatures are deterministic, so the same key always
/// results in the same certificate, and the certificate need not be stored.
package struct TLSIdentity: Sendable {
    /// The key that the certificate carries.
    package let key: SigningKey
    /// The complete, signed X509.
    let certificate: SharedHandle

    /// Creates the certificate of `key`.
    package init(key: SigningKey) throws(TLSError) {
        OpenSSL.start()
        self.key = key
        guard let certificate = X509_new() else { throw .library(.failed("X509_new")) }
        self.certificate = SharedHandle(certificate, free: X509_free)
        let name = X509_get_subject_name(certificate)
        let isSigned = key.withHandle { key in
            X509_set_version(certificate, 2) == 1  // X.509 version 3 is written as 2
                && ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) == 1
                && ASN1_TIME_set_string_X509(X509_getm_notBefore(certificate), "20000101000000Z") == 1
                // RFC 5280 section 4.1.2.5: the date for "no well-defined end"
                && ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), "99991231235959Z") == 1
                && X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8, "handoff", -1, -1, 0) == 1
                && X509_set_issuer_name(certificate, name) == 1 && X509_set_pubkey(certificate, key) == 1
                && X509_sign(certificate, key, nil) > 0  // Ed25519 takes no digest
        }
        guard isSigned else { throw .library(.failed("X509_sign")) }
    }
}
