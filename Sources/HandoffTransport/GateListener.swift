package import HandoffTLS
package import LoopIO
import Timing

/// The listening socket of a daemon, and the gate behind it: a stranger gets no byte out of it.
///
/// Used on its loop's thread only; dropping it closes the socket and all connections that have not passed the gate.
/// Diagram: `docs/state-machines/peer-connection.md`.
package final class GateListener {
    /// Judges token and ClientHello record; `nil` closes the connection without an answer. It also remembers which
    /// tokens were used: a good one may open the gate only once.
    package typealias Judge = (_ token: [UInt8], _ clientHello: [UInt8], _ source: IPAddress) -> GateVerdict?

    /// A connection that has passed the gate and starts its handshake when this returns: set its handlers, and keep it.
    package var onConnection: ((PeerConnection) -> Void)?

    private let loop: EventLoop
    private let listener: OpeningListener
    private let context: TLSContext
    private let limits: TransportLimits
    private let judge: Judge

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - descriptor: a listening TCP socket, such as `BoundPort.tcp`.
    ///   - context: TLS in the role of the server.
    package init(
        _ descriptor: consuming Descriptor, context: TLSContext, limits: TransportLimits = TransportLimits(),
        on loop: EventLoop, judge: @escaping Judge
    ) throws(Errno) {
        self.loop = loop
        self.context = context
        self.limits = limits
        self.judge = judge
        listener = try OpeningListener(descriptor, mayOmitToken: false, limits: limits, on: loop)
        listener.onOpening = { [weak self] opening in
            if let self { open(opening) } else { opening.stream.close() }
        }
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
        onConnection = nil
    }

    private func open(_ opening: OpeningListener.Opening) {
        guard let token = opening.token, let verdict = judge(token, opening.clientHello, opening.address.address),
            // Both fail only without memory, and then nobody is served.
            let session = try? TLSSession(context: context, accepts: verdict.accepts),
            let connection = try? PeerConnection(
                stream: opening.stream, session: session, role: .server, remoteAddress: opening.address,
                isIntroduction: verdict.isIntroduction, limits: limits, on: loop)
        else { return opening.stream.close() }
        onConnection?(connection)
        connection.answer(opening.clientHello)
    }
}
