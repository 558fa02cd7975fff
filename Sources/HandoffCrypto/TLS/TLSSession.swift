internal import COpenSSL

/// A TLS connection without its socket. It converts between ciphertext and plaintext (SSL).
///
/// Call `start` (client only), then `receive` and `step` until the handshake is done or has failed,
/// then `receive`, `read` and `write`, and `close` at the end. After every call, send the result of
/// `takeCiphertext`. A session belongs to one loop: OpenSSL's errors are per thread, and each
/// method reads them before it returns. States: `docs/state-machines/peer-connection.md`.
package final class TLSSession {
    /// The number of changes of this side's sending key.
    package private(set) var keyUpdates = 0
    /// The negotiated application protocol; nil before the handshake is done.
    package private(set) var agreedProtocol: String?
    /// Settings and role. Read by `PeerCheck`.
    let context: TLSContext
    /// Returns true if the owner of this key is accepted as the peer. Called at most once, during
    /// `step`, before the key is proved. It must have no side effects, and must read only values
    /// that cannot change concurrently. Set it before the first `receive`.
    package var accepts: @Sendable (PublicKey) -> Bool
    /// The reason for which `PeerCheck` rejects the peer.
    var verdict: TLSError?
    /// The key in the peer's certificate. Not proved before the handshake is done.
    var claimedKey: PublicKey?

    private let ssl: OpaquePointer
    private let records = RecordBuffers()
    private var state = State.handshake
    private var bytesUnderKey: UInt64 = 0
    private var isPeerDone = false  // close_notify was received

    private enum State {
        /// The peer has not proved its key yet.
        case handshake
        /// Both sides may send.
        case open
        /// Nothing can be sent or received any more.
        case failed(TLSError)
    }

    /// Creates a session that has not sent anything.
    ///
    /// - Parameters:
    ///   - context: provides the role, the identity and all settings.
    ///   - accepts: the initial value of `accepts`, which by default rejects every key.
    package init(
        context: TLSContext, accepts: @escaping @Sendable (PublicKey) -> Bool = { _ in false }
    ) throws(TLSError) {
        guard let ssl = SSL_new(context.handle.pointer) else { throw .library(.failed("SSL_new")) }
        guard let bio = records.makeBIO() else {
            SSL_free(ssl)
            throw .library(.failed("BIO_new"))
        }
        self.context = context
        self.accepts = accepts
        self.ssl = ssl
        SSL_set_bio(ssl, bio, bio)  // both directions; takes ownership of the one reference
        // Unretained: it is only used in callbacks of `ssl`, which this session frees.
        SSL_set_ex_data(ssl, PeerCheck.sessionSlot, Unmanaged.passUnretained(self).toOpaque())
        SSL_set_msg_callback(ssl) { _, _, type, message, count, ssl, _ in
            PeerCheck.watch(type, UnsafeRawBufferPointer(start: message, count: count), ssl)
        }
        switch context.role {
        case .client: SSL_set_connect_state(ssl)
        case .server: SSL_set_accept_state(ssl)
        }
    }

    deinit {
        SSL_free(ssl)
    }

    /// The peer's key, after it is proved.
    package var peerKey: PublicKey? {
        if case .open = state { claimedKey } else { nil }
    }

    /// The key agreement. Valid after the handshake only.
    package var group: TLSGroup { copenssl_has_x25519(ssl) == 1 ? .classic : .hybrid }

    /// True if the handshake is done and no error has occurred since.
    package var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    /// Returns the record with the ClientHello; nil for a server, and after the first call.
    package func start() -> [UInt8]? {
        guard context.role == .client, case .handshake = state, SSL_in_before(ssl) == 1 else { return nil }
        _ = step()
        return takeCiphertext()
    }

    /// Adds bytes received from the peer, for `step` and `read`.
    package func receive(_ ciphertext: [UInt8]) {
        if case .failed = state { return }
        records.receive(ciphertext)
    }

    /// Adds up to `count` bytes that `fill` writes, for example with recv(2), to reusable memory.
    ///
    /// For bulk data, instead of `receive(_:)`.
    /// - Parameter fill: returns how many bytes it wrote.
    package func receive(upTo count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Int) {
        if case .failed = state { return }
        records.receive(upTo: count, fill)
    }

    /// Continues the handshake as far as the received bytes allow (`SSL_do_handshake`).
    package func step() -> TLSStep {
        switch state {
        case .handshake: break
        case .open: return .done
        case .failed(let error): return .failed(error)
        }
        ERR_clear_error()
        let result = SSL_do_handshake(ssl)
        let reason = SSL_get_error(ssl, result)
        // Read in every case, so that no error stays in the thread's queue and is reported by
        // another call.
        let error = TLSError.takeFromQueue()
        if verdict == .helloRetryRequest {
            records.dropOutput()  // do not send the request or the second hello
            return .failed(fail(.helloRetryRequest))
        }
        if result == 1 { return finishHandshake() }
        if reason == SSL_ERROR_WANT_READ { return .incomplete }
        return .failed(fail(verdict ?? error))
    }

    /// Returns the ciphertext to send now, in order; empty if there is none.
    package func takeCiphertext() -> [UInt8] {
        records.takeOutput()
    }

    /// The number of ciphertext bytes to send.
    package var pendingCiphertext: Int { records.outputCount }

    /// Passes the pending ciphertext to `send`, which returns how many bytes it accepted. The rest
    /// stays pending.
    ///
    /// For bulk data, instead of `takeCiphertext`: the memory is reused for the next records.
    package func drainCiphertext(_ send: (UnsafeRawBufferPointer) -> Int) {
        records.drainOutput(send)
    }

    /// Releases the empty part of memory that was used for bulk data.
    package func releaseMemory() {
        records.releaseMemory()
    }

    /// Encrypts `plaintext` into as few records as possible (`SSL_write_ex`). Call it after the
    /// handshake only.
    package func write(_ plaintext: [UInt8]) throws(TLSError) {
        try plaintext.withUnsafeBufferPointer { (bytes) throws(TLSError) in try write(UnsafeRawBufferPointer(bytes)) }
    }

    /// Encrypts borrowed memory into as few records as possible (`SSL_write_ex`). Call it after the
    /// handshake only.
    package func write(_ plaintext: UnsafeRawBufferPointer) throws(TLSError) {
        try checkIsOpen()
        guard !plaintext.isEmpty else { return }
        ERR_clear_error()
        try updateKeyIfDue(plaintext.count)
        records.reserveOutput(forPlaintext: plaintext.count)
        var written = 0
        // Our buffers accept everything, so partial writes do not occur.
        guard SSL_write_ex(ssl, plaintext.baseAddress, plaintext.count, &written) == 1 else {
            throw fail(.takeFromQueue())
        }
    }

    /// Returns plaintext of the records received so far, at most about `maximum` bytes
    /// (`SSL_read_ex`). Call it after the handshake only.
    package func read(maximum: Int = 256 * 1024) throws(TLSError) -> TLSRead {
        // Avoid an allocation if there is nothing to read.
        if let nothing = try reasonNotToRead() { return nothing == .closed ? .closed : .wouldBlock }
        // Plaintext is never longer than its record, so this has room for all received data except
        // the rest of an earlier record.
        let here = min(records.inputCount, maximum)
        let capacity = SSL_has_pending(ssl) == 0 ? here : max(here, Int(SSL3_RT_MAX_PLAIN_LENGTH))
        var outcome = Result<TLSReadCount, TLSError>.success(.wouldBlock)
        let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, initialized in
            outcome = Result { () throws(TLSError) in try decrypt(into: UnsafeMutableRawBufferPointer(buffer)) }
            if case .success(.bytes(let count)) = outcome { initialized = count }
        }
        return switch try outcome.get() {
        case .bytes: .bytes(bytes)
        case .wouldBlock: .wouldBlock
        case .closed: .closed
        }
    }

    /// Decrypts into borrowed memory, as much as is available and fits. Call it after the handshake
    /// only.
    ///
    /// For bulk data, instead of `read(maximum:)`.
    package func read(into target: UnsafeMutableRawBufferPointer) throws(TLSError) -> TLSReadCount {
        if let nothing = try reasonNotToRead() { return nothing }
        return try decrypt(into: target)
    }

    /// Announces that this side sends no more (close_notify, `SSL_shutdown`). Does nothing unless
    /// the session is open.
    package func close() {
        guard case .open = state else { return }
        ERR_clear_error()
        SSL_shutdown(ssl)
        ERR_clear_error()
    }

    /// Returns secret bytes that only the two ends of this session can derive (RFC 5705, RFC 9266).
    /// Call it after the handshake only.
    package func exporter(label: String, context: [UInt8], count: Int) throws(TLSError) -> [UInt8] {
        try checkIsOpen()
        ERR_clear_error()
        var bytes = [UInt8](repeating: 0, count: count)
        let result = SSL_export_keying_material(
            ssl, &bytes, count, label, label.utf8.count, context, context.count, 1)
        guard result == 1 else { throw .library(.failed("SSL_export_keying_material")) }
        return bytes
    }

    /// Returns `.wouldBlock` if OpenSSL has no data left. When it last stopped, it had processed
    /// all received data, unless it lacked room. Then it holds the rest of a record.
    private func reasonNotToRead() throws(TLSError) -> TLSReadCount? {
        try checkIsOpen()
        if isPeerDone { return .closed }
        return records.inputCount > 0 || SSL_pending(ssl) > 0 ? nil : .wouldBlock
    }

    private func decrypt(into target: UnsafeMutableRawBufferPointer) throws(TLSError) -> TLSReadCount {
        ERR_clear_error()
        var total = 0
        // Stop when all received data is read, without another call of OpenSSL.
        while total < target.count, total == 0 || records.inputCount > 0 || SSL_has_pending(ssl) == 1 {
            var count = 0
            let result = SSL_read_ex(ssl, target.baseAddress.map { $0 + total }, target.count - total, &count)
            guard result == 1 else {
                switch SSL_get_error(ssl, result) {
                case SSL_ERROR_WANT_READ: return total > 0 ? .bytes(total) : .wouldBlock
                case SSL_ERROR_ZERO_RETURN:
                    isPeerDone = true
                    return total > 0 ? .bytes(total) : .closed
                default:
                    let error = fail(.takeFromQueue())
                    // Data before the failure is genuine. The next call throws.
                    guard total > 0 else { throw error }
                    return .bytes(total)
                }
            }
            total += count
        }
        return .bytes(total)
    }

    private func finishHandshake() -> TLSStep {
        // The callbacks have rejected all other protocols. This check fails closed if one of them
        // was not called.
        guard let agreed = PeerCheck.agreedProtocol(ssl, self) else { return .failed(fail(.wrongApplicationProtocol)) }
        agreedProtocol = agreed
        let isProved = claimedKey != nil && SSL_get_verify_result(ssl) == Int(X509_V_OK)
        guard isProved || !context.requiresPeerKey else { return .failed(fail(.unsuitableCertificate)) }
        SSL_set_msg_callback(ssl, nil)
        state = .open
        return .done
    }

    private func updateKeyIfDue(_ count: Int) throws(TLSError) {
        bytesUnderKey &+= UInt64(count)
        guard bytesUnderKey > context.bytesPerKey else { return }
        guard SSL_key_update(ssl, SSL_KEY_UPDATE_NOT_REQUESTED) == 1 else { throw fail(.takeFromQueue()) }
        bytesUnderKey = UInt64(count)
        keyUpdates += 1
    }

    private func checkIsOpen() throws(TLSError) {
        switch state {
        case .open: return
        // A bug of the owner, not caused by the peer: only `step` leaves this state, and its result
        // reports that.
        case .handshake: preconditionFailure("no data before the handshake is done")
        case .failed(let error): throw error
        }
    }

    private func fail(_ error: TLSError) -> TLSError {
        state = .failed(error)
        records.dropInput()
        return error
    }
}

/// The progress of a handshake. In every case send the result of `takeCiphertext`, including an
/// alert after a failure.
package enum TLSStep: Equatable, Sendable {
    /// More bytes from the peer are needed.
    case incomplete
    /// Both sides are authenticated. `peerKey`, `read` and `write` can be used.
    case done
    /// The session has ended.
    case failed(TLSError)
}

/// The result of reading from a session.
package enum TLSRead: Equatable, Sendable {
    /// Plaintext, at least one byte.
    case bytes([UInt8])
    /// No complete record has been received. More ciphertext is needed.
    case wouldBlock
    /// The peer sends no more (close_notify). If the TCP stream ends without it, the connection was
    /// cut.
    case closed
}

/// The result of reading from a session into borrowed memory.
package enum TLSReadCount: Equatable, Sendable {
    /// The number of plaintext bytes, at least one.
    case bytes(Int)
    /// No complete record has been received. More ciphertext is needed.
    case wouldBlock
    /// The peer sends no more (close_notify).
    case closed
}
