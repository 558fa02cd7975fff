internal import COpenSSL
package import HandoffCrypto

/// One TLS connection without its socket: ciphertext in, plaintext out, and back (SSL).
///
/// Order of use: `start` (client), then `receive` and `step` until done or failed, then `receive`, `read`, `write`, and
/// `close` at the end; after every call send what `takeCiphertext` gives. Belongs to one loop: OpenSSL's errors are per
/// thread, and each call of this class reads them before it returns. States: `docs/state-machines/peer-connection.md`.
package final class TLSSession {
    /// Times that this side changed its sending key.
    package private(set) var keyUpdates = 0
    /// The application protocol that both sides agreed upon; `nil` before the handshake is done.
    package private(set) var agreedProtocol: String?
    /// Settings and role; read by `PeerCheck`.
    let context: TLSContext
    /// Whether the other side may be the owner of this key. Called at most once, during `step`, before the key is proved: it
    /// must change nothing, and read only values that cannot change under it. Set it before the first `receive`.
    package var accepts: @Sendable (PublicKey) -> Bool
    /// What `PeerCheck` has against the other side.
    var verdict: TLSError?
    /// The key in the other side's certificate, not proved before the handshake is done.
    var claimedKey: PublicKey?

    private let ssl: OpaquePointer
    private let records = RecordBuffers()
    private var state = State.handshake
    private var bytesUnderKey: UInt64 = 0
    private var isPeerDone = false  // close_notify came

    private enum State {
        /// The state while the other side is not proved.
        case handshake
        /// The state while both sides may send.
        case open
        /// The state once nothing can be sent or received any more.
        case failed(TLSError)
    }

    /// Makes a session that has sent nothing yet.
    ///
    /// - Parameters:
    ///   - context: gives the role, the identity and all settings.
    ///   - accepts: the first value of `accepts`, which refuses everybody where it is not known yet.
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
        SSL_set_bio(ssl, bio, bio)  // both directions; takes the one reference
        // Unretained: it is only read in callbacks of `ssl`, which this session frees.
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

    /// The other side's key, once it is proved.
    package var peerKey: PublicKey? {
        if case .open = state { claimedKey } else { nil }
    }

    /// The key agreement; after the handshake only.
    package var group: TLSGroup { copenssl_has_x25519(ssl) == 1 ? .classic : .hybrid }

    /// Whether the handshake is done and nothing has failed since.
    package var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    /// The record with the ClientHello; `nil` for a server, and after the first call.
    package func start() -> [UInt8]? {
        guard context.role == .client, case .handshake = state, SSL_in_before(ssl) == 1 else { return nil }
        _ = step()
        return takeCiphertext()
    }

    /// Adds bytes that came from the other side; `step` and `read` use them.
    package func receive(_ ciphertext: [UInt8]) {
        if case .failed = state { return }
        records.receive(ciphertext)
    }

    /// Adds up to `count` bytes that `fill` writes, such as with recv(2), into memory that serves again.
    ///
    /// For bulk data, in place of `receive(_:)`.
    /// - Parameter fill: returns how many bytes it wrote.
    package func receive(upTo count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Int) {
        if case .failed = state { return }
        records.receive(upTo: count, fill)
    }

    /// Goes on with the handshake as far as the received bytes allow (`SSL_do_handshake`).
    package func step() -> TLSStep {
        switch state {
        case .handshake: break
        case .open: return .done
        case .failed(let error): return .failed(error)
        }
        ERR_clear_error()
        let result = SSL_do_handshake(ssl)
        let reason = SSL_get_error(ssl, result)
        // Taken in every case: nothing may stay in the thread's queue for another call to find.
        let error = TLSError.takeFromQueue()
        if verdict == .helloRetryRequest {
            records.dropOutput()  // neither the request nor the second hello may leave
            return .failed(fail(.helloRetryRequest))
        }
        if result == 1 { return finishHandshake() }
        if reason == SSL_ERROR_WANT_READ { return .incomplete }
        return .failed(fail(verdict ?? error))
    }

    /// Ciphertext to be sent now, in order; empty when there is none.
    package func takeCiphertext() -> [UInt8] {
        records.takeOutput()
    }

    /// Bytes of ciphertext that wait to be sent.
    package var waitingCiphertext: Int { records.outputCount }

    /// Lends the ciphertext that waits to `send`, which returns how many bytes it took; the rest waits on.
    ///
    /// For bulk data, in place of `takeCiphertext`: the memory serves again for the next records.
    package func drainCiphertext(_ send: (UnsafeRawBufferPointer) -> Int) {
        records.drainOutput(send)
    }

    /// Gives back memory that served bulk data, as far as it is empty.
    package func releaseMemory() {
        records.releaseMemory()
    }

    /// Encrypts `plaintext` into as few records as possible (`SSL_write_ex`); only after the handshake.
    package func write(_ plaintext: [UInt8]) throws(TLSError) {
        try plaintext.withUnsafeBufferPointer { (bytes) throws(TLSError) in try write(UnsafeRawBufferPointer(bytes)) }
    }

    /// Encrypts borrowed memory into as few records as possible (`SSL_write_ex`); only after the handshake.
    package func write(_ plaintext: UnsafeRawBufferPointer) throws(TLSError) {
        try checkIsOpen()
        guard !plaintext.isEmpty else { return }
        ERR_clear_error()
        try changeKeyIfWorn(plaintext.count)
        records.reserveOutput(forPlaintext: plaintext.count)
        var written = 0
        // Our buffers take everything, so this never writes in part.
        guard SSL_write_ex(ssl, plaintext.baseAddress, plaintext.count, &written) == 1 else {
            throw fail(.takeFromQueue())
        }
    }

    /// Plaintext of the records received so far, at most about `maximum` bytes (`SSL_read_ex`); only after the handshake.
    package func read(maximum: Int = 256 * 1024) throws(TLSError) -> TLSRead {
        // An allocation is not worth while only to learn that there is nothing.
        if let nothing = try reasonNotToRead() { return nothing == .closed ? .closed : .wouldBlock }
        // Plaintext is never longer than its record, so this holds all that is here but for a record begun earlier.
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

    /// Plaintext into borrowed memory, as much as is here and fits; only after the handshake.
    ///
    /// For bulk data, in place of `read(maximum:)`.
    package func read(into target: UnsafeMutableRawBufferPointer) throws(TLSError) -> TLSReadCount {
        if let nothing = try reasonNotToRead() { return nothing }
        return try decrypt(into: target)
    }

    /// Says that this side sends no more (close_notify, `SSL_shutdown`); does nothing unless the session is open.
    package func close() {
        guard case .open = state else { return }
        ERR_clear_error()
        SSL_shutdown(ssl)
        ERR_clear_error()
    }

    /// Secret bytes that only the two ends of this session can derive (RFC 5705, RFC 9266); only after the handshake.
    package func exporter(label: String, context: [UInt8], count: Int) throws(TLSError) -> [UInt8] {
        try checkIsOpen()
        ERR_clear_error()
        var bytes = [UInt8](repeating: 0, count: count)
        let result = SSL_export_keying_material(
            ssl, &bytes, count, label, label.utf8.count, context, context.count, 1)
        guard result == 1 else { throw .library(.failed("SSL_export_keying_material")) }
        return bytes
    }

    /// OpenSSL has worked off all that was here when it last stopped, unless it stopped for lack of room; then it holds
    /// the rest of a record.
    private func reasonNotToRead() throws(TLSError) -> TLSReadCount? {
        try checkIsOpen()
        if isPeerDone { return .closed }
        return records.inputCount > 0 || SSL_pending(ssl) > 0 ? nil : .wouldBlock
    }

    private func decrypt(into target: UnsafeMutableRawBufferPointer) throws(TLSError) -> TLSReadCount {
        ERR_clear_error()
        var total = 0
        // Once all that is here is read, OpenSSL need not be asked to find that out.
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
                    // What came before the failure is genuine; the next call throws.
                    guard total > 0 else { throw error }
                    return .bytes(total)
                }
            }
            total += count
        }
        return .bytes(total)
    }

    private func finishHandshake() -> TLSStep {
        // The callbacks have refused everything else; this fails closed should one of them not have been asked.
        guard let agreed = PeerCheck.agreedProtocol(ssl, self) else { return .failed(fail(.wrongApplicationProtocol)) }
        agreedProtocol = agreed
        let isProved = claimedKey != nil && SSL_get_verify_result(ssl) == Int(X509_V_OK)
        guard isProved || !context.requiresPeerKey else { return .failed(fail(.unsuitableCertificate)) }
        SSL_set_msg_callback(ssl, nil)
        state = .open
        return .done
    }

    private func changeKeyIfWorn(_ count: Int) throws(TLSError) {
        bytesUnderKey &+= UInt64(count)
        guard bytesUnderKey > context.bytesPerKey else { return }
        guard SSL_key_update(ssl, SSL_KEY_UPDATE_NOT_REQUESTED) == 1 else { throw fail(.takeFromQueue()) }
        bytesUnderKey = UInt64(count)
        keyUpdates += 1
    }

    private func checkIsOpen() throws(TLSError) {
        switch state {
        case .open: return
        // The owner's mistake, whatever comes from the other side: only `step` leaves this state, and its result says so.
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

/// Where a handshake stands; send what `takeCiphertext` gives in every case, also an alert after a failure.
package enum TLSStep: Equatable, Sendable {
    /// More bytes of the other side are needed.
    case incomplete
    /// Both sides are proved; `peerKey` is known, and `read` and `write` work.
    case done
    /// The session is over.
    case failed(TLSError)
}

/// What reading from a session gave.
package enum TLSRead: Equatable, Sendable {
    /// Plaintext, at least one byte.
    case bytes([UInt8])
    /// No whole record is here; feed more ciphertext.
    case wouldBlock
    /// The other side said that it sends no more (close_notify). The end of the TCP stream without it is a cut.
    case closed
}

/// What reading from a session into borrowed memory gave.
package enum TLSReadCount: Equatable, Sendable {
    /// This many bytes of plaintext, at least one.
    case bytes(Int)
    /// No whole record is here; feed more ciphertext.
    case wouldBlock
    /// The other side said that it sends no more (close_notify).
    case closed
}
