import COpenSSL
import HandoffCrypto
import Testing

/// Plain OpenSSL over memory BIOs with settings chosen by each test: a peer that violates our
/// protocol.
final class RawPeer {
    /// Settings of a new context, applied before the session is created.
    struct Settings {
        var versions: (Int32, Int32) = (TLS1_3_VERSION, TLS1_3_VERSION)
        var groups = "X25519"
        var protocols: [String] = ["handoff/1"]
        var key: TestKey?
        var chain: [TestKey] = []
        var isCookieDemanded = false
    }

    let ssl: OpaquePointer
    /// OpenSSL's error text of the last step.
    private(set) var lastError = ""
    private let context: OpaquePointer
    /// The reply of the server's callback. OpenSSL uses the memory, so it is freed after the
    /// context.
    private var protocolName: UnsafeMutableRawPointer?
    private let settings: Settings
    private let incoming = BIO_new(BIO_s_mem())
    private let outgoing = BIO_new(BIO_s_mem())

    init(client: Settings) throws {
        settings = client
        context = try Self.makeContext(client, TLS_client_method())
        guard let ssl = SSL_new(context) else { throw CryptoError.failed("SSL_new") }
        self.ssl = ssl
        SSL_set_bio(ssl, incoming, outgoing)
        SSL_set_connect_state(ssl)
        let list = client.protocols.flatMap { [UInt8($0.utf8.count)] + $0.utf8 }
        SSL_set_alpn_protos(ssl, list, UInt32(list.count))
    }

    init(server: Settings) throws {
        settings = server
        context = try Self.makeContext(server, TLS_server_method())
        guard let ssl = SSL_new(context) else { throw CryptoError.failed("SSL_new") }
        self.ssl = ssl
        SSL_set_bio(ssl, incoming, outgoing)
        SSL_set_accept_state(ssl)
        guard let name = server.protocols.first else { return }
        protocolName = Self.lengthPrefixed(name)
        SSL_CTX_set_alpn_select_cb(
            context,
            { _, chosen, count, _, _, argument in
                let name = argument?.assumingMemoryBound(to: UInt8.self)
                chosen?.pointee = name.map { UnsafePointer($0 + 1) }
                count?.pointee = name?.pointee ?? 0
                return SSL_TLSEXT_ERR_OK
            }, protocolName)
    }

    deinit {
        SSL_free(ssl)
        SSL_CTX_free(context)
        protocolName?.deallocate()
    }

    /// Adds `bytes`, continues the handshake, and returns the bytes to send.
    func step(_ bytes: [UInt8] = []) -> [UInt8] {
        ERR_clear_error()
        if !bytes.isEmpty { BIO_write(incoming, bytes, Int32(bytes.count)) }
        if settings.isCookieDemanded {
            SSL_stateless(ssl)
        } else {
            SSL_do_handshake(ssl)
        }
        lastError = OpenSSL.takeErrors()
        return take()
    }

    /// Returns the bytes to send.
    func take() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 1 << 17)
        let count = BIO_read(outgoing, &bytes, Int32(bytes.count))
        return count > 0 ? Array(bytes.prefix(Int(count))) : []
    }

    /// True if this side considers the handshake done.
    var isDone: Bool { SSL_is_init_finished(ssl) == 1 }

    /// True if this side has the data to resume a session.
    var holdsSession: Bool { SSL_SESSION_is_resumable(SSL_get_session(ssl)) == 1 }

    /// Returns the plaintext in `bytes`.
    func read(_ bytes: [UInt8]) -> [UInt8] {
        BIO_write(incoming, bytes, Int32(bytes.count))
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 15)
        while true {
            let count = SSL_read(ssl, &buffer, Int32(buffer.count))
            guard count > 0 else { return all }
            all += buffer.prefix(Int(count))
        }
    }

    private static func makeContext(_ settings: Settings, _ method: OpaquePointer?) throws -> OpaquePointer {
        OpenSSL.start()
        guard let context = SSL_CTX_new(method), copenssl_set_groups(context, settings.groups) == 1,
            copenssl_set_versions(context, settings.versions.0, settings.versions.1) == 1
        else { throw CryptoError.failed("SSL_CTX_new") }
        if let key = settings.key {
            guard SSL_CTX_use_certificate(context, key.certificate) == 1, SSL_CTX_use_PrivateKey(context, key.key) == 1
            else { throw CryptoError.failed("SSL_CTX_use_certificate") }
        }
        for extra in settings.chain { copenssl_add_chain_certificate(context, extra.certificate) }
        SSL_CTX_set_stateless_cookie_generate_cb(context) { _, cookie, count in
            cookie?.initialize(repeating: 1, count: 16)
            count?.pointee = 16
            return 1
        }
        SSL_CTX_set_verify(context, settings.key == nil ? SSL_VERIFY_NONE : SSL_VERIFY_PEER) { _, _ in 1 }
        return context
    }

    /// Returns a length-prefixed name for a callback. The caller must free it.
    private static func lengthPrefixed(_ name: String) -> UnsafeMutableRawPointer {
        let bytes = [UInt8(name.utf8.count)] + name.utf8
        let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes.count, alignment: 1)
        memory.copyMemory(from: bytes, byteCount: bytes.count)
        return memory
    }
}

extension TLSSession {
    /// Creates our side of a handshake with a `RawPeer`.
    convenience init(
        testing role: TLSRole, accepts: @escaping @Sendable (PublicKey) -> Bool = rejectsBefore
    ) throws {
        try self.init(context: TLSContext(identity: TLSIdentity(key: SigningKey()), role: role), accepts: accepts)
    }

    /// Records an issue: the handshake should have failed before the peer's key is judged.
    static let rejectsBefore: @Sendable (PublicKey) -> Bool = { _ in
        Issue.record("accepts was called for a key that should have been rejected before")
        return true
    }
}
