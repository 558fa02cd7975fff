package import HandoffCrypto
package import HandoffProtocol
package import HandoffStreams
package import LoopIO

/// A connection to another device that has passed the gate: TLS over TCP, which carries frames or
/// the bytes of a stream. Use it on its loop's thread only.
///
/// This class implements both roles. A connection starts in its handshake. Set the handlers in the
/// same turn in which you receive it, and retain it: releasing it cuts it. Handlers are called one
/// at a time, never from inside a method of this class except `answer`, and not after `onClosed`.
/// States: handshake, open, closed (`docs/state-machines/peer-connection.md`).
package final class PeerConnection {
    private enum State {
        /// A side that must prove its key has not proved it to the other side yet.
        case handshake
        /// Bytes can be sent and received.
        case open
        /// The connection has ended, by either side.
        case closed
    }

    /// The capacity of the buffer for outgoing frames that is kept after sending. Larger memory is
    /// released.
    private static let keptCapacity = 16 * 1024

    /// Called once when the TLS handshake is complete and the peer has proved this key. The key is
    /// nil only if the context does not require one. Bytes received with the handshake are
    /// delivered afterwards.
    package var onOpen: ((PublicKey?) -> Void)?
    /// Called with decrypted bytes from the peer, in arbitrary pieces. While it is nil, nothing is
    /// read.
    package var onBytes: (([UInt8]) -> Void)? {
        didSet { updateReading() }
    }
    /// Called once when the connection has ended, including after `close` but not after `abort`.
    package var onClosed: ((ConnectionEnd) -> Void)?
    /// Called once when the server has replied to our token. On the client side only.
    var onGatePassed: (() -> Void)?

    /// The role of this device.
    package let role: TLSRole
    /// The address of the peer.
    package let remoteAddress: SocketAddress
    /// True if the client was admitted only to introduce itself.
    package let isIntroduction: Bool
    private let loop: EventLoop
    private let limits: TransportLimits
    private let stream: ByteStream
    private let session: TLSSession
    private var state = State.handshake
    /// Frames to send after the current handler has returned or the handshake is complete.
    private var outgoing: [UInt8] = []
    private var deadline: LoopTimer?
    private var hasReceived = false
    private var isPaused = false
    private var isReading = true
    /// True during a handler: written frames are then sent when it returns.
    private var isHandling = false

    /// Creates a connection over a connected socket. Call `greet` or `answer` to start it.
    ///
    /// - Parameters:
    ///   - stream: the connection takes ownership of it.
    ///   - session: a TLS session that has not received anything.
    package init(
        stream: ByteStream, session: TLSSession, role: TLSRole, remoteAddress: SocketAddress,
        isIntroduction: Bool = false, limits: TransportLimits, on loop: EventLoop
    ) throws(Errno) {
        self.role = role
        self.remoteAddress = remoteAddress
        self.isIntroduction = isIntroduction
        self.loop = loop
        self.limits = limits
        self.stream = stream
        self.session = session
        deadline = limits.handshakeTimeout.map { loop.timer(after: $0) { [weak self] in self?.deadlinePassed() } }
    }

    /// The peer's key; nil unless the connection is open, or if the context does not require one.
    package var peerKey: PublicKey? {
        if case .open = state { session.peerKey } else { nil }
    }

    /// A value that only the two ends of this connection can derive (tls-exporter, RFC 9266); nil
    /// unless the connection is open.
    package var channelBinding: [UInt8]? {
        guard case .open = state else { return nil }
        return try? session.exporter(label: "EXPORTER-Channel-Binding", context: [], count: 32)
    }

    /// The key agreement, for the log; empty unless the connection is open.
    package var group: String {
        if case .open = state { session.group.rawValue } else { "" }
    }

    /// True if both sides agreed that the connection carries a continuation stream and no frames.
    package var isForStream: Bool { session.agreedProtocol == TLSContext.streamProtocol }

    package var isClosed: Bool {
        if case .closed = state { true } else { false }
    }

    /// The number of bytes that are waiting to be sent.
    package var waitingBytes: Int { stream.pendingWriteBytes + outgoing.count }

    /// True if the other machine has not acknowledged all sent bytes.
    package var isUnacknowledged: Bool {
        stream.rawDescriptor.flatMap(TCP.unacknowledged).map { $0 > 0 } ?? false
    }

    // MARK: Starting

    /// Starts the client side. `greeting` contains the ClientHello and the bytes before it, and is
    /// sent in one segment.
    func greet(_ greeting: [UInt8]) {
        attach()
        stream.write(greeting)
    }

    /// Starts the server side with the ClientHello that passed the gate.
    package func answer(_ clientHello: [UInt8]) {
        attach()
        received(clientHello)
    }

    private func attach() {
        stream.onRead = { [weak self] in self?.received($0) }
        stream.onEnd = { [weak self] in self?.receivedEnd() }
        stream.onError = { [weak self] in self?.streamFailed($0) }
    }

    // MARK: Frames and bytes

    /// Sends frames immediately, in one record and one system call, to minimise the latency for a
    /// peer that waits for them. Frames sent in one handler are sent together when it returns.
    /// Before the connection is open they are queued.
    ///
    /// - Returns: false if the connection has ended, including because the peer has too much unread
    ///   data.
    @discardableResult
    package func send(_ frames: [Frame]) -> Bool {
        guard !isClosed else { return false }
        for frame in frames {
            guard hasRoom(for: frame.body.count) else { return false }
            frame.append(to: &outgoing)
        }
        if !isHandling { flush(isInOwnerCall: true) }
        return !isClosed
    }

    /// Sends bytes in the same way.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        guard !isClosed, hasRoom(for: bytes.count) else { return false }
        outgoing += bytes
        if !isHandling { flush(isInOwnerCall: true) }
        return !isClosed
    }

    /// Returns true if `count` more bytes may be queued, otherwise ends the connection.
    private func hasRoom(for count: Int) -> Bool {
        guard waitingBytes + count > limits.maxPendingWrites else { return true }
        abort(.notReading, isInOwnerCall: true)
        return false
    }

    /// Stops delivering bytes until `resumeReading`, which throttles the peer.
    package func pauseReading() {
        isPaused = true
        updateReading()
    }

    /// Resumes delivery in the next turn, starting with pending bytes.
    package func resumeReading() {
        isPaused = false
        updateReading()
    }

    /// Sends the pending bytes and close_notify, and ends the connection. `onClosed` is called in a
    /// later turn.
    ///
    /// - Parameter reason: for the log; not sent to the peer.
    package func close(_ reason: String) {
        guard !isClosed else { return }
        flush(isInOwnerCall: true)
        shutDown(.closedLocally(reason), isInOwnerCall: true)
    }

    /// Ends the connection immediately, even if bytes sent before `close` are still being
    /// delivered. Nothing is reported.
    package func abort() {
        onClosed = nil
        abort(.closedLocally("the connection was aborted"))
    }

    /// Transfers socket and TLS session to a stream channel. Nothing is reported afterwards.
    ///
    /// - Returns: nil, after closing the connection, unless it is open and all written bytes have
    ///   been sent.
    package func detach() -> StreamChannel? {
        guard case .open = state, outgoing.isEmpty, let descriptor = stream.detach() else {
            close("it could not be converted to a stream")
            return nil
        }
        onClosed = nil
        finish(.closedLocally("the connection was converted to a stream"), true)
        return StreamChannel(descriptor, session: session)
    }

    // MARK: Events

    private func received(_ bytes: [UInt8]) {
        handle {
            if !hasReceived {
                hasReceived = true
                onGatePassed?()
                onGatePassed = nil
            }
            session.receive(bytes)
        }
    }

    /// Processes one event: runs it, delivers the resulting bytes, then sends everything that was
    /// written in reaction.
    private func handle(_ event: () -> Void) {
        guard !isClosed else { return }
        isHandling = true
        event()
        if case .handshake = state { continueHandshake() }
        deliver()
        isHandling = false
        flush(isInOwnerCall: false)
    }

    private func continueHandshake() {
        switch session.step() {
        case .incomplete: return
        case .failed(let error): shutDown(.tls(error))
        case .done:
            state = .open
            deadline?.cancel()
            deadline = nil
            onOpen?(session.peerKey)
            onOpen = nil
            updateReading()
        }
    }

    private func deliver() {
        while case .open = state, wantsToRead, let onBytes {
            do throws(TLSError) {
                switch try session.read() {
                case .bytes(let bytes): onBytes(bytes)
                case .wouldBlock: return
                case .closed: return shutDown(.finished)
                }
            } catch {
                return shutDown(.tls(error))
            }
        }
    }

    /// True if bytes from the peer can be processed now. A handshake needs them; an open connection
    /// may be throttled.
    private var wantsToRead: Bool {
        switch state {
        case .handshake: true
        case .open: !isPaused && onBytes != nil
        case .closed: false
        }
    }

    /// Derives from the state whether the socket is read. No other code sets it.
    private func updateReading() {
        guard !isClosed, wantsToRead != isReading else { return }
        isReading = wantsToRead
        guard isReading else { return stream.pauseReading() }
        stream.resumeReading()
        // TLS may hold bytes that arrived before the pause, and no event would deliver them.
        if !isHandling { loop.later { [weak self] in self?.handle {} } }
    }

    private func receivedEnd() {
        abort(role == .client && !hasReceived ? .refusedAtGate : .cut)
    }

    private func streamFailed(_ error: Errno) {
        let isRefusal = role == .client && !hasReceived && [.connectionReset, .brokenPipe].contains(error)
        abort(isRefusal ? .refusedAtGate : .socket(error))
    }

    private func deadlinePassed() {
        abort(.timedOut)
    }

    // MARK: Sending

    /// - Parameter isInOwnerCall: true during a call by the owner, from inside which handlers must
    ///   not be called.
    private func flush(isInOwnerCall: Bool) {
        guard !isClosed else { return }
        if case .open = state, !outgoing.isEmpty {
            do throws(TLSError) {
                try session.write(outgoing)
            } catch {
                return shutDown(.tls(error), isInOwnerCall: isInOwnerCall)
            }
            outgoing.removeAll(keepingCapacity: outgoing.capacity <= Self.keptCapacity)
        }
        sendCiphertext(isInOwnerCall: isInOwnerCall)
    }

    private func sendCiphertext(isInOwnerCall: Bool) {
        let bytes = session.takeCiphertext()
        guard !bytes.isEmpty else { return }
        stream.write(bytes)
        // `send` limits frames, but TLS itself creates the replies to key updates. A peer that
        // requests updates without reading would queue them without end.
        if !isClosed, stream.pendingWriteBytes > 2 * limits.maxPendingWrites {
            abort(.notReading, isInOwnerCall: isInOwnerCall)
        }
    }

    // MARK: Ending

    /// Ends the connection properly: the peer receives the written bytes, then an alert or
    /// close_notify.
    private func shutDown(_ end: ConnectionEnd, isInOwnerCall: Bool = false) {
        session.close()
        sendCiphertext(isInOwnerCall: isInOwnerCall)
        stream.finish(within: isInOwnerCall ? limits.lingerTimeout : limits.alertTimeout)
        finish(end, isInOwnerCall)
    }

    /// Ends the connection immediately.
    private func abort(_ end: ConnectionEnd, isInOwnerCall: Bool = false) {
        stream.close()
        finish(end, isInOwnerCall)
    }

    private func finish(_ end: ConnectionEnd, _ isInOwnerCall: Bool) {
        guard !isClosed else { return }
        state = .closed
        deadline?.cancel()
        deadline = nil
        outgoing = []
        let report = onClosed
        onOpen = nil
        onBytes = nil
        onClosed = nil
        onGatePassed = nil
        guard let report else { return }
        // Do not call back from inside a method that the owner called, or from inside one of its
        // handlers.
        if isInOwnerCall { loop.later { report(end) } } else { report(end) }
    }
}
