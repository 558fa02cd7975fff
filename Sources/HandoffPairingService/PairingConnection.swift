package import HandoffTLS
package import HandoffTransport
package import LoopIO

/// A connection between inviter and joiner: TLS over TCP, bytes in and out. Used on its loop's thread only.
///
/// The same class plays both roles. It has no deadlines; its owner has. Set the handlers in the same turn in which you
/// get it, and keep it: dropping it cuts it. No handler is called after `onClosed`, and none from inside a method of
/// this class but `greet` and `answer`. Diagram: `docs/state-machines/pairing.md`.
package final class PairingConnection {
    private enum State {
        /// The state while TLS is not set up.
        case handshake
        /// The state while bytes pass.
        case open
        /// The state once it has ended, whoever ended it.
        case closed
    }

    /// What both ends of this very connection can derive, and nobody in between (RFC 9266).
    private static let exporter = (label: "EXPORTER-Channel-Binding", count: 32)

    /// TLS is set up; with the bytes that bind to it what is sent inside. Called once.
    package var onOpen: ((_ exporter: [UInt8]) -> Void)?
    /// What the other side sent, decrypted, in whatever pieces it arrives.
    package var onBytes: (([UInt8]) -> Void)?
    /// The other side, or the network, has ended it; called at most once, and not after `finish` or `abort`.
    package var onClosed: ((ConnectionEnd) -> Void)?

    /// Where the other side is.
    package let remoteAddress: SocketAddress

    private let stream: ByteStream
    private let session: TLSSession
    private var state = State.handshake

    /// A connection whose socket is connected; `greet` or `answer` starts it.
    ///
    /// - Parameters:
    ///   - stream: passes into the ownership of the connection.
    ///   - session: TLS, which has not received anything.
    package init(stream: ByteStream, session: TLSSession, remoteAddress: SocketAddress) {
        self.stream = stream
        self.session = session
        self.remoteAddress = remoteAddress
    }

    /// Whether it has ended.
    package var isClosed: Bool {
        if case .closed = state { true } else { false }
    }

    /// Starts the joiner's side with what opens the connection: the ClientHello, and the token when there is one.
    package func greet(_ opening: [UInt8]) {
        attach()
        stream.write(opening)
    }

    /// Starts the inviter's side with the ClientHello that arrived.
    package func answer(_ clientHello: [UInt8]) {
        attach()
        received(clientHello)
    }

    /// Sends bytes; only once it is open, later and earlier ones are dropped.
    package func send(_ bytes: [UInt8]) {
        guard case .open = state, !bytes.isEmpty else { return }
        do throws(TLSError) {
            try session.write(bytes)
        } catch {
            return  // What failed is told by the session's next step.
        }
        sendCiphertext()
    }

    /// Sends what waits and the end of TLS, and ends; the other side may take `time` to read it.
    package func finish(within time: Duration = .seconds(1)) {
        guard !isClosed else { return }
        close()
        session.close()
        sendCiphertext()
        stream.finish(within: time)
    }

    /// Ends at once, also while `finish` still waits for the other side.
    package func abort() {
        close()
        stream.close()
    }

    // MARK: - Events

    private func attach() {
        stream.onRead = { [weak self] in self?.received($0) }
        stream.onEnd = { [weak self] in self?.end(.cut) }
        stream.onError = { [weak self] in self?.end(.socket($0)) }
    }

    private func received(_ bytes: [UInt8]) {
        guard !isClosed else { return }
        session.receive(bytes)
        if case .handshake = state { shakeHands() }
        deliver()
    }

    private func shakeHands() {
        let step = session.step()
        sendCiphertext()
        switch step {
        case .incomplete: return
        case .failed(let error): fail(error)
        case .done:
            do throws(TLSError) {
                let exporter = try session.exporter(
                    label: Self.exporter.label, context: [], count: Self.exporter.count)
                state = .open
                onOpen?(exporter)
                onOpen = nil
            } catch {
                fail(error)
            }
        }
    }

    private func deliver() {
        while case .open = state {
            do throws(TLSError) {
                switch try session.read() {
                case .bytes(let bytes): onBytes?(bytes)
                case .wouldBlock: return
                case .closed: return end(.finished)
                }
            } catch {
                return fail(error)
            }
        }
    }

    private func sendCiphertext() {
        let bytes = session.takeCiphertext()
        if !bytes.isEmpty { stream.write(bytes) }
    }

    /// TLS has failed: the other side gets the alert.
    private func fail(_ error: TLSError) {
        sendCiphertext()
        end(.tls(error))
    }

    private func end(_ end: ConnectionEnd) {
        guard !isClosed else { return }
        let report = onClosed
        close()
        // At once: nobody may hold sockets of ours by failing. An alert has left, and arrives unless more was sent to us.
        stream.close()
        report?(end)
    }

    private func close() {
        state = .closed
        onOpen = nil
        onBytes = nil
        onClosed = nil
    }
}
