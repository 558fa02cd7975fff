package import HandoffTLS
package import LoopIO
import Timing

/// Who keeps the gate. On the listener's loop.
package protocol GateListenerDelegate: AnyObject {
    /// Judges token and ClientHello record; nil closes the connection without an answer. It also remembers which
    /// tokens were used: a good one may open the gate only once.
    func judge(_ token: [UInt8], _ clientHello: [UInt8], from source: IPAddress) -> GateVerdict?
    /// A caller was refused whose first bytes may be those of an earlier draft of the protocol.
    func refusedFormer(_ token: [UInt8], _ clientHello: [UInt8])
    /// A connection has passed the gate, and starts its handshake when this returns: set its handlers, and keep it.
    func passed(_ connection: PeerConnection)
}

/// The listening socket of a daemon, and the gate behind it: a stranger gets no byte out of it.
///
/// Used on its loop's thread only; dropping it closes the socket and all connections that have not passed the gate.
/// Diagram: `docs/state-machines/peer-connection.md`.
package final class GateListener: OpeningListenerDelegate {
    private let loop: EventLoop
    private let listener: OpeningListener
    private let context: TLSContext
    private let limits: TransportLimits
    private weak var delegate: (any GateListenerDelegate)?

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - descriptor: a listening TCP socket, such as `BoundPort.tcp`.
    ///   - context: TLS in the role of the server.
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

    /// Connections that have not passed the gate.
    package var ungatedCount: Int { listener.count }

    /// The bound address and port.
    package var localAddress: SocketAddress? { listener.localAddress }

    /// Descriptors or memory for new connections have run out; it goes on by itself.
    package var onShortage: ((Errno) -> Void)? {
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
        delegate?.refusedFormer(former.token, former.clientHello)
    }

    package func opened(_ opening: OpeningListener.Opening) {
        guard let token = opening.token, let delegate,
            let verdict = delegate.judge(token, opening.clientHello, from: opening.address.address),
            // Both fail only without memory, and then nobody is served.
            let session = try? TLSSession(context: context, accepts: verdict.accepts),
            let connection = try? PeerConnection(
                stream: opening.stream, session: session, role: .server, remoteAddress: opening.address,
                isIntroduction: verdict.isIntroduction, limits: limits, on: loop)
        else { return opening.stream.close() }
        delegate.passed(connection)
        connection.answer(opening.clientHello)
    }
}
