package import HandoffCrypto
package import HandoffProtocol
package import HandoffStreams
package import HandoffTLS
package import LoopIO

/// A connection to another device after the gate: TLS over TCP, bytes in, frames or bytes out. Used on its loop's thread
/// only.
///
/// The same class plays both roles. It starts in its handshake; set the handlers in the same turn in which you get it,
/// and keep it: dropping it cuts it. Handlers are called one at a time, never from inside a method of this class but
/// `answer`, and none after `onClosed`. States: handshake, open, closed (`docs/state-machines/peer-connection.md`).
package final class PeerConnection {
    private enum State {
        /// The state while a side that must prove its key has not proved it to the other.
        case handshake
        /// The state while bytes pass.
        case open
        /// The state once it has ended, whoever ended it.
        case closed
    }

    /// Frames are gathered for one record; above this size the memory is given back after they are sent.
    private static let keptCapacity = 16 * 1024

    /// TLS is done, and the other side has proved this key, which is nil only where the context asks for none; called
    /// once. Bytes that came behind are delivered after it.
    package var onOpen: ((PublicKey?) -> Void)?
    /// What the other side sent, decrypted, in whatever pieces it arrives; while this is not set, nothing is read.
    package var onBytes: (([UInt8]) -> Void)? {
        didSet { updateReading() }
    }
    /// It has ended; called once, for `close` too, but not for `abort`.
    package var onClosed: ((ConnectionEnd) -> Void)?
    /// The server has answered our token; called once, on the client's side only.
    var onGatePassed: (() -> Void)?

    /// The side that this device plays.
    package let role: TLSRole
    /// Where the other side is.
    package let remoteAddress: SocketAddress
    /// Whether the client was let in to introduce itself.
    package let isIntroduction: Bool
    private let loop: EventLoop
    private let limits: TransportLimits
    private let stream: ByteStream
    private let session: TLSSession
    private var state = State.handshake
    /// Frames that wait for the end of the present handler, or for the handshake.
    private var outgoing: [UInt8] = []
    private var deadline: LoopTimer?
    private var hasHeard = false
    private var isPaused = false
    private var isReading = true
    /// While set, what is written is sent when the present handler returns.
    private var isHandling = false

    /// A connection whose socket is connected; `greet` or `answer` starts it.
    ///
    /// - Parameters:
    ///   - stream: passes into the ownership of the connection.
    ///   - session: TLS, which has not received anything.
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
        deadline = limits.handshake.map { loop.timer(after: $0) { [weak self] in self?.deadlinePassed() } }
    }

    /// The other side's key; `nil` unless the connection is open, and where the context asks for none.
    package var peerKey: PublicKey? {
        if case .open = state { session.peerKey } else { nil }
    }

    /// What both ends of this very connection can derive, and nobody in between (tls-exporter, RFC 9266); `nil` unless the
    /// connection is open.
    package var channelBinding: [UInt8]? {
        guard case .open = state else { return nil }
        return try? session.exporter(label: "EXPORTER-Channel-Binding", context: [], count: 32)
    }

    /// The key agreement, for the log; empty unless the connection is open.
    package var group: String {
        if case .open = state { session.group.rawValue } else { "" }
    }

    /// Whether both sides agreed that it carries a continuation stream, and no frames.
    package var isForStream: Bool { session.agreedProtocol == TLSContext.streamProtocol }

    /// Whether it has ended.
    package var isClosed: Bool {
        if case .closed = state { true } else { false }
    }

    /// Bytes that the other side has not taken yet.
    package var waitingBytes: Int { stream.pendingWriteBytes + outgoing.count }

    /// Whether the other machine has not acknowledged all that was sent to it.
    package var isUnacknowledged: Bool {
        stream.rawDescriptor.flatMap(TCP.unacknowledged).map { $0 > 0 } ?? false
    }

    // MARK: Starting

    /// Starts the client's side with the ClientHello and what stands before it, in one segment.
    func greet(_ greeting: [UInt8]) {
        attach()
        stream.write(greeting)
    }

    /// Starts the server's side with the ClientHello that passed the gate.
    package func answer(_ clientHello: [UInt8]) {
        attach()
        received(clientHello)
    }

    private func attach() {
        stream.onRead = { [weak self] in self?.received($0) }
        stream.onEnd = { [weak self] in self?.receivedEnd() }
        stream.onError = { [weak self] in self?.streamFailed($0) }
    }

    // MARK: Using it

    /// Sends frames in one record and one system call, at once: whoever waits for them on another machine waits longest.
    /// Those of one handler leave together when it returns. Before the connection is open they wait for that.
    ///
    /// - Returns: false if the connection has ended, also because the other side leaves too much unread.
    @discardableResult
    package func send(_ frames: [Frame]) -> Bool {
        guard !isClosed else { return false }
        for frame in frames {
            guard hasRoom(for: frame.body.count) else { return false }
            frame.append(to: &outgoing)
        }
        if !isHandling { flush(isAsked: true) }
        return !isClosed
    }

    /// Sends bytes in the same way.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        guard !isClosed, hasRoom(for: bytes.count) else { return false }
        outgoing += bytes
        if !isHandling { flush(isAsked: true) }
        return !isClosed
    }

    /// Whether so much more may wait; ends the connection if not.
    private func hasRoom(for count: Int) -> Bool {
        guard waitingBytes + count > limits.waitingWrites else { return true }
        abort(.notReading, isAsked: true)
        return false
    }

    /// Delivers no more bytes until `resumeReading`, and slows the other side down by it.
    package func pauseReading() {
        isPaused = true
        updateReading()
    }

    /// Delivers bytes again, those that wait first, from the next turn on.
    package func resumeReading() {
        isPaused = false
        updateReading()
    }

    /// Sends what waits, says goodbye to the other side (close_notify), and ends; `onClosed` comes in a later turn.
    ///
    /// - Parameter reason: for the log; the other side does not see it.
    package func close(_ reason: String) {
        guard !isClosed else { return }
        flush(isAsked: true)
        leave(.closedHere(reason), isAsked: true)
    }

    /// Ends at once, also while the other side may still take what was sent before `close`; nothing is reported.
    package func abort() {
        onClosed = nil
        abort(.closedHere("it was aborted"))
    }

    /// Gives the connection away to a stream: socket and TLS as they are. Nothing is reported any more.
    ///
    /// - Returns: nil unless it is open and everything that was written has left; then it is closed.
    package func detach() -> StreamChannel? {
        guard case .open = state, outgoing.isEmpty, let descriptor = stream.detach() else {
            close("it could not be made a stream")
            return nil
        }
        onClosed = nil
        finish(.closedHere("it is a stream now"), true)
        return StreamChannel(descriptor, session: session)
    }

    // MARK: Events

    private func received(_ bytes: [UInt8]) {
        handle {
            if !hasHeard {
                hasHeard = true
                onGatePassed?()
                onGatePassed = nil
            }
            session.receive(bytes)
        }
    }

    /// Runs one event: takes in what it brought, delivers all that follows from it, then sends all that came of it.
    private func handle(_ event: () -> Void) {
        guard !isClosed else { return }
        isHandling = true
        event()
        if case .handshake = state { goOn() }
        deliver()
        isHandling = false
        flush(isAsked: false)
    }

    private func goOn() {
        switch session.step() {
        case .incomplete: return
        case .failed(let error): leave(.tls(error))
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
                case .closed: return leave(.finished)
                }
            } catch {
                return leave(.tls(error))
            }
        }
    }

    /// Whether bytes of the other side are of use now. A handshake needs them; who is connected may be slowed down.
    private var wantsToRead: Bool {
        switch state {
        case .handshake: true
        case .open: !isPaused && onBytes != nil
        case .closed: false
        }
    }

    /// Derives from the state whether the socket is read. The only place that sets it.
    private func updateReading() {
        guard !isClosed, wantsToRead != isReading else { return }
        isReading = wantsToRead
        guard isReading else { return stream.pauseReading() }
        stream.resumeReading()
        // TLS may hold bytes that came before the pause, and nothing else would call for them.
        if !isHandling { loop.later { [weak self] in self?.handle {} } }
    }

    private func receivedEnd() {
        abort(role == .client && !hasHeard ? .refusedAtGate : .cut)
    }

    private func streamFailed(_ error: Errno) {
        let isRefusal = role == .client && !hasHeard && [.connectionReset, .brokenPipe].contains(error)
        abort(isRefusal ? .refusedAtGate : .socket(error))
    }

    private func deadlinePassed() {
        abort(.timedOut)
    }

    // MARK: Sending

    /// - Parameter isAsked: whether the owner's call is under way, which is not called back from inside of it.
    private func flush(isAsked: Bool) {
        guard !isClosed else { return }
        if case .open = state, !outgoing.isEmpty {
            do throws(TLSError) {
                try session.write(outgoing)
            } catch {
                return leave(.tls(error), isAsked: isAsked)
            }
            outgoing.removeAll(keepingCapacity: outgoing.capacity <= Self.keptCapacity)
        }
        sendCiphertext(isAsked: isAsked)
    }

    private func sendCiphertext(isAsked: Bool) {
        let bytes = session.takeCiphertext()
        guard !bytes.isEmpty else { return }
        stream.write(bytes)
        // Frames are bounded where they are gathered; answers to key updates are made by TLS itself, without end for who asks
        // without end and takes none.
        if !isClosed, stream.pendingWriteBytes > 2 * limits.waitingWrites { abort(.notReading, isAsked: isAsked) }
    }

    // MARK: Ending

    /// Ends in order: the other side gets what was written, then an alert or close_notify.
    private func leave(_ end: ConnectionEnd, isAsked: Bool = false) {
        session.close()
        sendCiphertext(isAsked: isAsked)
        stream.finish(within: isAsked ? limits.linger : limits.alert)
        finish(end, isAsked)
    }

    /// Ends at once.
    private func abort(_ end: ConnectionEnd, isAsked: Bool = false) {
        stream.close()
        finish(end, isAsked)
    }

    private func finish(_ end: ConnectionEnd, _ isAsked: Bool) {
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
        // Inside a method that the owner called, or inside one of its handlers, it is not called back.
        if isAsked { loop.later { report(end) } } else { report(end) }
    }
}
