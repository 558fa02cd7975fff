internal import COpenSSL

/// Algorithms fetched once: each fetch costs microseconds, each use of a fetched one does not.
enum Algorithm {
    /// SHA-256 (`EVP_MD_fetch`).
    static let sha256 = fetch("SHA256", EVP_MD_fetch, EVP_MD_free)
    /// AES-256-GCM (`EVP_CIPHER_fetch`).
    static let aes256GCM = fetch("AES-256-GCM", EVP_CIPHER_fetch, EVP_CIPHER_free)
    /// HKDF (`EVP_KDF_fetch`).
    static let hkdf = fetch("HKDF", EVP_KDF_fetch, EVP_KDF_free)
    /// HMAC with SHA-256 that waits for a key; only ever copied (`EVP_MAC_CTX_dup`).
    static let hmacSHA256: SharedHandle = {
        let mac = fetch("HMAC", EVP_MAC_fetch, EVP_MAC_free)
        guard let template = copenssl_hmac_template(mac.pointer, "SHA256") else {
            preconditionFailure("OpenSSL has no HMAC with SHA256")
        }
        return SharedHandle(template, free: EVP_MAC_CTX_free)
    }()

    private static func fetch(
        _ name: String, _ fetch: (OpaquePointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> OpaquePointer?,
        _ free: @escaping @convention(c) (OpaquePointer?) -> Void
    ) -> SharedHandle {
        OpenSSL.start()
        guard let handle = fetch(nil, name, nil) else {
            // All of these are in the default provider of every OpenSSL 3: their absence is a broken installation.
            preconditionFailure("OpenSSL has no \(name)")
        }
        return SharedHandle(handle, free: free)
    }
}
