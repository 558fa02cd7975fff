internal import COpenSSL

/// OpenSSL's callbacks, which check the peer during a handshake.
///
/// They find the session through the SSL object and store their verdict in it. They change nothing
/// else, because the peer has not proved anything yet.
enum PeerCheck {
    /// The ex_data index of each SSL for its `TLSSession`, unretained: the session frees the SSL in
    /// its `deinit`, so it outlives every callback.
    static let sessionSlot = copenssl_new_ssl_slot()

    /// The random bytes that mark a ServerHello as a HelloRetryRequest: SHA-256 of that word (RFC
    /// 8446 section 4.1.3).
    private static let retryRandom: [UInt8] = SHA256.hash(Array("HelloRetryRequest".utf8))

    /// Replaces OpenSSL's own verification of a chain (`SSL_CTX_set_cert_verify_callback`): 1
    /// accepts.
    ///
    /// Names, dates, extensions and issuers are ignored. The key alone identifies a device.
    static func verify(_ store: OpaquePointer?) -> Int32 {
        guard let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()),
            let session = session(of: OpaquePointer(ssl))
        else { return 0 }
        let verdict = judge(store, OpaquePointer(ssl), session)
        if let verdict {
            session.verdict = verdict
            X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED)
            return 0
        }
        X509_STORE_CTX_set_error(store, X509_V_OK)
        return 1
    }

    /// Selects the first supported protocol from a client's list (`SSL_CTX_set_alpn_select_cb`), or
    /// ends the handshake.
    static func selectProtocol(
        _ ssl: OpaquePointer?, _ offered: UnsafeBufferPointer<UInt8>,
        _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ count: UnsafeMutablePointer<UInt8>?
    ) -> Int32 {
        guard let session = session(of: ssl) else { return SSL_TLSEXT_ERR_ALERT_FATAL }
        var index = 0
        // OpenSSL has checked the list, but checking an index again is cheap.
        while index < offered.count {
            let start = index + 1
            let end = start + Int(offered[index])
            guard end <= offered.count else { break }
            if session.context.protocolNames.contains(where: { offered[start..<end].elementsEqual($0.utf8) }) {
                chosen?.pointee = offered.baseAddress.map { $0 + start }
                count?.pointee = offered[index]
                return SSL_TLSEXT_ERR_OK
            }
            index = end
        }
        session.verdict = .wrongApplicationProtocol
        return SSL_TLSEXT_ERR_ALERT_FATAL
    }

    /// Detects a HelloRetryRequest in either direction (`SSL_set_msg_callback`).
    static func watch(_ contentType: Int32, _ message: UnsafeRawBufferPointer, _ ssl: OpaquePointer?) {
        // Handshake header 4, legacy version 2, random 32 bytes
        guard contentType == SSL3_RT_HANDSHAKE, message.count >= 38, message[0] == UInt8(SSL3_MT_SERVER_HELLO),
            message[6..<38].elementsEqual(retryRandom)
        else { return }
        session(of: ssl)?.verdict = .helloRetryRequest
    }

    /// Returns the negotiated application protocol if it is one of the session's.
    static func agreedProtocol(_ ssl: OpaquePointer?, _ session: TLSSession) -> String? {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &count)
        let agreed = UnsafeBufferPointer(start: name, count: Int(count))
        return session.context.protocolNames.first { agreed.elementsEqual($0.utf8) }
    }

    private static func judge(
        _ store: OpaquePointer?, _ ssl: OpaquePointer, _ session: TLSSession
    ) -> TLSError? {
        guard agreedProtocol(ssl, session) != nil else { return .wrongApplicationProtocol }
        guard copenssl_chain_count(store) == 1, let certificate = X509_STORE_CTX_get0_cert(store),
            let key = X509_get0_pubkey(certificate), EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519
        else { return .unsuitableCertificate }
        var raw = [UInt8](repeating: 0, count: PublicKey.byteCount)
        var count = raw.count
        guard EVP_PKEY_get_raw_public_key(key, &raw, &count) == 1, count == raw.count,
            let publicKey = PublicKey(raw: raw)
        else { return .unsuitableCertificate }
        guard session.accepts(publicKey) else { return .keyNotAccepted }
        session.claimedKey = publicKey
        return nil
    }

    private static func session(of ssl: OpaquePointer?) -> TLSSession? {
        // The session has stored itself there, and outlives its `ssl`.
        SSL_get_ex_data(ssl, sessionSlot).map { Unmanaged<TLSSession>.fromOpaque($0).takeUnretainedValue() }
    }
}
