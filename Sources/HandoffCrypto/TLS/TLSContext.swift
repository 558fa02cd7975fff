internal import COpenSSL

/// The shared part of all sessions of one role: this device's identity and the fixed settings of
/// the protocol (SSL_CTX).
///
/// TLS 1.3 with X25519 (alone or with ML-KEM) and Ed25519 only. ALPN is required, resumption is
/// disabled, and devices authenticate mutually. No option weakens these settings.
package final class TLSContext: Sendable {
    /// The application protocol between devices of an account. A new protocol version has a new
    /// name.
    package static let applicationProtocol = "handoff/1"
    /// The application protocol of connections that carry one continuation stream each.
    package static let streamProtocol = "handoff-stream/1"
    /// The application protocol of pairing.
    package static let pairingProtocol = "handoff-pair/1"
    /// The number of plaintext bytes in one direction after which the key is changed. Below the
    /// limit of AES-GCM (RFC 8446 section 5.5).
    package static let defaultBytesPerKey: UInt64 = 64 << 30

    /// The role of this context's sessions.
    package let role: TLSRole
    let bytesPerKey: UInt64
    /// The application protocols that a server accepts, or the one that a client requests.
    let protocolNames: [String]
    /// True if the peer must prove a key. False for the inviter of a pairing, whose joiner proves
    /// itself later.
    let requiresPeerKey: Bool
    let handle: SharedHandle

    /// Creates a context for connections between devices of an account. Both sides prove their
    /// keys.
    ///
    /// - Parameters:
    ///   - protocols: the protocols that a server accepts, or the one that a client requests.
    ///     `TLSSession.agreedProtocol` is the negotiated one.
    ///   - bytesPerKey: the number of plaintext bytes after which a session changes its sending
    ///     key. Tests use small values.
    package convenience init(
        identity: TLSIdentity, role: TLSRole, protocols: [String] = [applicationProtocol],
        bytesPerKey: UInt64 = defaultBytesPerKey
    ) throws(TLSError) {
        try self.init(
            role: role, identity: identity, protocolNames: protocols, requiresPeerKey: true, bytesPerKey: bytesPerKey)
    }

    /// Creates a context for the inviter of a pairing. `identity` is created for one pairing window
    /// and then discarded.
    package convenience init(pairingServer identity: TLSIdentity) throws(TLSError) {
        try self.init(role: .server, identity: identity, protocolNames: [Self.pairingProtocol], requiresPeerKey: false)
    }

    /// Creates a context for the joiner of a pairing, which sends no certificate. The pairing code
    /// proves the inviter's identity.
    package static func pairingClient() throws(TLSError) -> TLSContext {
        try TLSContext(role: .client, identity: nil, protocolNames: [pairingProtocol], requiresPeerKey: true)
    }

    private init(
        role: TLSRole, identity: TLSIdentity?, protocolNames: [String], requiresPeerKey: Bool,
        bytesPerKey: UInt64 = defaultBytesPerKey
    ) throws(TLSError) {
        OpenSSL.start()
        self.role = role
        self.bytesPerKey = bytesPerKey
        self.protocolNames = protocolNames
        self.requiresPeerKey = requiresPeerKey
        let method = role == .client ? TLS_client_method() : TLS_server_method()
        guard let context = SSL_CTX_new(method) else { throw .library(.failed("SSL_CTX_new")) }
        handle = SharedHandle(context, free: SSL_CTX_free)
        try Self.limitAlgorithms(context)
        if let identity { try Self.use(identity, context) }
        try Self.require(protocolNames, context, role)
        copenssl_disable_resumption(context)
        let verification = requiresPeerKey ? SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT : SSL_VERIFY_NONE
        SSL_CTX_set_verify(context, verification, nil)
        SSL_CTX_set_cert_verify_callback(context, { store, _ in PeerCheck.verify(store) }, nil)
        // No search for issuers of our certificate at each handshake, and no 34 KiB of buffers in
        // idle sessions.
        copenssl_set_mode(context, Int(SSL_MODE_NO_AUTO_CHAIN) | Int(SSL_MODE_RELEASE_BUFFERS))
    }

    private static func limitAlgorithms(_ context: OpaquePointer) throws(TLSError) {
        // Send a key share for each of the two groups, so that no server has to request another
        // one. OpenSSL before 3.5 rejects the unknown hybrid name, and then uses X25519 alone.
        let hasGroups =
            copenssl_set_groups(context, "*\(TLSGroup.hybrid.rawValue):*\(TLSGroup.classic.rawValue)") == 1
            || copenssl_set_groups(context, TLSGroup.classic.rawValue) == 1
        ERR_clear_error()
        let suites = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
        guard copenssl_set_versions(context, TLS1_3_VERSION, TLS1_3_VERSION) == 1,
            hasGroups,
            copenssl_set_signatures(context, "ed25519") == 1,
            SSL_CTX_set_ciphersuites(context, suites) == 1
        else { throw .library(.failed("SSL_CTX_set_ciphersuites")) }
    }

    private static func use(_ identity: TLSIdentity, _ context: OpaquePointer) throws(TLSError) {
        guard SSL_CTX_use_certificate(context, identity.certificate.pointer) == 1,
            identity.key.withHandle({ SSL_CTX_use_PrivateKey(context, $0) }) == 1
        else { throw .library(.failed("SSL_CTX_use_certificate")) }
    }

    private static func require(
        _ protocolNames: [String], _ context: OpaquePointer, _ role: TLSRole
    ) throws(TLSError) {
        switch role {
        case .client:
            let list = protocolNames.flatMap { [UInt8($0.utf8.count)] + $0.utf8 }
            // Unlike other OpenSSL functions, this one returns 0 for success.
            guard SSL_CTX_set_alpn_protos(context, list, UInt32(list.count)) == 0 else {
                throw .library(.failed("SSL_CTX_set_alpn_protos"))
            }
        case .server:
            SSL_CTX_set_alpn_select_cb(
                context,
                { ssl, chosen, count, offered, total, _ in
                    PeerCheck.selectProtocol(
                        ssl, UnsafeBufferPointer(start: offered, count: Int(total)), chosen, count)
                }, nil)
        }
    }
}

/// The role of a session in a connection.
package enum TLSRole: Sendable {
    /// Sends the first hello.
    case client
    /// Waits for the first hello.
    case server
}

/// The key agreement of a connection.
package enum TLSGroup: String, Sendable {
    /// X25519 together with ML-KEM-768: recorded traffic stays secret even if quantum computers
    /// break X25519.
    case hybrid = "X25519MLKEM768"
    /// X25519 alone, if either side uses OpenSSL before 3.5.
    case classic = "X25519"
}
