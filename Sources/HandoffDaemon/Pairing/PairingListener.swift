package import HandoffCrypto
import HandoffPairing
package import HandoffTransport
package import LoopIO

/// The listening socket of a pairing window. Reads the opening of each connection, and passes on
/// those that may start TLS. Used only on its loop's thread; releasing it closes the socket and all
/// waiting connections.
package final class PairingListener: OpeningListenerDelegate {
    /// A connection that may start TLS.
    package struct Arrival {
        /// The connection. Set its handlers, then call `answer` with the ClientHello.
        package let connection: PeerConnection
        /// The bytes before the ClientHello, or nil for a joiner that has only digits.
        let token: [UInt8]?
        /// The ClientHello record.
        package let clientHello: [UInt8]
    }

    /// Called for a connection that has sent its opening. The token is not checked yet.
    package var onArrival: ((Arrival) -> Void)?

    /// The port it listens on.
    package let port: UInt16

    private let listener: OpeningListener
    private let context: TLSContext
    private let limits: TransportLimits
    private let loop: EventLoop

    /// Starts to listen on the first free port of `ports`, otherwise on any port.
    ///
    /// - Parameters:
    ///   - ports: the ports that firewalls admit.
    ///   - address: one of this machine's addresses, or nil for all.
    ///   - context: the TLS context of this window.
    package init(
        ports: ClosedRange<UInt16>? = BoundPort.defaultPorts, address: IPAddress?, context: TLSContext,
        limits: TransportLimits = PairingLimits().transport, on loop: EventLoop
    ) throws(Errno) {
        let socket = try Self.bind(ports, address)
        port = try SocketAddress.local(of: socket.raw).port
        self.context = context
        self.limits = limits
        self.loop = loop
        let buffer = GateBuffer(tokenCount: PairingLink.tokenCount, mayOmitToken: true)
        listener = try OpeningListener(socket, buffer: buffer, limits: limits, on: loop)
        listener.delegate = self
    }

    /// Closes the socket and every connection that was not passed on.
    func close() {
        listener.close()
        onArrival = nil
    }

    private static func bind(
        _ ports: ClosedRange<UInt16>?, _ address: IPAddress?
    ) throws(Errno) -> Descriptor {
        for port in ports.map({ Array($0) }) ?? [] {
            do throws(Errno) {
                return try BoundPort.bindTCP(port: port, address: address)
            } catch {
                guard error == .addressInUse else { throw error }
            }
        }
        return try BoundPort.bindTCP(port: 0, address: address)
    }

    package func opened(_ opening: OpeningListener.Opening) {
        // Both fail only if memory is exhausted; the connection is then closed.
        guard let session = try? TLSSession(context: context, accepts: { _ in true }),
            let connection = try? PeerConnection(
                stream: opening.stream, session: session, role: .server, remoteAddress: opening.address, limits: limits,
                on: loop)
        else { return opening.stream.close() }
        onArrival?(Arrival(connection: connection, token: opening.token, clientHello: opening.clientHello))
    }
}
