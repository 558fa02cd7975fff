package import HandoffCrypto
import HandoffModel
package import LoopIO

/// Decides which connections pass the gate. Called on the listener's loop.
package protocol GateListenerDelegate: AnyObject {
    /// Checks token and ClientHello record. Returns nil to close the connection without a reply.
    /// The delegate must remember used tokens, because a token may open the gate only once.
    func judge(_ token: [UInt8], _ clientHello: [UInt8], from source: IPAddress) -> GateVerdict?
    /// Called when a caller is rejected whose first bytes may be those of an earlier draft of the
    /// protocol.
    func rejectedEarlierDraft(_ token: [UInt8], _ clientHello: [UInt8])
    /// Called when a connection has passed the gate. The handshake starts after this returns: set
    /// the connection's handlers, and retain it.
    func passed(_ connection: PeerConnection)
}

/// The listening socket of a daemon, with the gate behind it. Unknown callers receive no bytes.
///
/// Use it on its loop's thread only. Releasing it closes the socket and all connections that have
/// not passed the gate. Diagram: `docs/state-machines/peer-connection.md`.
package final class GateListener: OpeningListenerDelegate {
    private let loop: EventLoop
    private let listener: OpeningListener
    private let context: TLSContext
    private let limits: TransportLimits
    private weak var delegate: (any GateListenerDelegate)?

    /// Starts listening.
    ///
    /// - Parameters:
    ///   - descriptor: a listening TCP socket, such as `BoundPort.tcp`.
    ///   - context: a TLS context in the server role.
    package init(
        _ descriptor: consuming Descriptor, context: TLSContext, limits: TransportLimits = TransportLimits(),
        on loop: EventLoop, delegate: any GateListenerDelegate
    ) throws(Errno) {
        self.loop = loop
        self.context = context
        self.limits = limits
        self.delegate = delegate
        listener = try OpeningListener(descriptor, buffer: GateBuffer(), limits: limits, on: loop)
        listener.delegate = self
    }

    /// The number of connections that have not passed the gate.
    package var ungatedCount: Int { listener.count }

    /// The bound address and port.
    package var localAddress: SocketAddress? { listener.localAddress }

    /// Called when descriptors or memory have run out. The listener retries automatically.
    var onShortage: ((Errno) -> Void)? {
        get { listener.onShortage }
        set { listener.onShortage = newValue }
    }

    /// Closes the socket and every connection that has not passed the gate.
    package func close() {
        listener.close()
        delegate = nil
    }

    package func refused(_ buffer: GateBuffer) {
        guard let former = buffer.former else { return }
        delegate?.rejectedEarlierDraft(former.token, former.clientHello)
    }

    package func opened(_ opening: OpeningListener.Opening) {
        guard let token = opening.token, let delegate,
            let verdict = delegate.judge(token, opening.clientHello, from: opening.address.address),
            // Both fail only if memory is exhausted. Then close the connection.
            let session = try? TLSSession(context: context, accepts: verdict.accepts),
            let connection = try? PeerConnection(
                stream: opening.stream, session: session, role: .server, remoteAddress: opening.address,
                isIntroduction: verdict.isIntroduction, limits: limits, on: loop)
        else { return opening.stream.close() }
        delegate.passed(connection)
        connection.answer(opening.clientHello)
    }
}
