package import HandoffTLS
package import LoopIO
import Timing

/// The listening socket of a pairing window: reads the opening of each connection, and hands on those that may begin
/// TLS. Used on its loop's thread only; dropping it closes the socket and all connections that wait.
package final class PairingListener {
    /// A connection that may begin TLS.
    package struct Arrival {
        /// The connection; set its handlers, then have it `answer` the ClientHello.
        package let connection: PairingConnection
        /// What stood before the ClientHello; nil for a joiner that has only digits.
        package let token: [UInt8]?
        /// The ClientHello record.
        package let clientHello: [UInt8]
    }

    private struct Opening {
        let stream: ByteStream
        let address: SocketAddress
        var bytes = PairingOpening()
    }

    /// A connection that has sent its opening. A token is not judged yet.
    package var onArrival: ((Arrival) -> Void)?

    /// The port that it listens on.
    package let port: UInt16

    private let loop: EventLoop
    private let listener: Listener
    private let context: TLSContext
    private let limits: PairingLimits
    private var table: OpeningTable
    private var openings: [OpeningTable.ID: Opening] = [:]
    private var timer: LoopTimer?

    /// Starts to listen on the first of some ports that is free, else on any.
    ///
    /// - Parameters:
    ///   - ports: those that firewalls let through.
    ///   - address: one of this machine's addresses; nil for all.
    ///   - context: TLS of this window.
    package init(
        ports: ClosedRange<UInt16>? = BoundPort.defaultPorts, address: IPAddress?, context: TLSContext,
        limits: PairingLimits = PairingLimits(), on loop: EventLoop
    ) throws(Errno) {
        let socket = try Self.bind(ports, address)
        port = try SocketAddress.local(of: socket.raw).port
        listener = try Listener(adopting: socket, on: loop)
        self.loop = loop
        self.context = context
        self.limits = limits
        table = OpeningTable(limit: limits.openings)
        timer = loop.timer(after: limits.opening) { [weak self] in self?.deadlinePassed() }
        listener.onAccept = { [weak self] descriptor, address in
            guard let address else { return }
            self?.accept(descriptor, from: address)
        }
    }

    deinit {
        close()
    }

    /// Connections that have not sent their opening.
    package var openingCount: Int { openings.count }

    /// Closes the socket and every connection that was not handed on.
    package func close() {
        listener.close()
        timer?.cancel()
        for opening in openings.values { opening.stream.close() }
        openings = [:]
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

    private func accept(_ descriptor: consuming Descriptor, from address: SocketAddress) {
        let stream: ByteStream
        do throws(Errno) {
            stream = try ByteStream(descriptor, on: loop)
        } catch {
            return  // No memory to watch it; the descriptor is closed.
        }
        let (id, evicted) = table.admit(from: address.address, until: loop.now.advanced(by: limits.opening))
        if let evicted { drop(evicted) }
        openings[id] = Opening(stream: stream, address: address)
        stream.onEnd = { [weak self] in self?.end(id) }
        stream.onError = { [weak self] _ in self?.end(id) }
        stream.onRead = { [weak self] in self?.received($0, id) }
        if timer?.isArmed == false { armTimer() }
    }

    private func received(_ bytes: [UInt8], _ id: OpeningTable.ID) {
        switch openings[id]?.bytes.append(bytes) {
        case nil, .incomplete: return
        case .refused: end(id)
        case .complete(let token, let clientHello):
            guard let opening = openings.removeValue(forKey: id) else { return }
            table.remove(id)
            handOn(opening, token: token, clientHello: clientHello)
        }
    }

    private func handOn(_ opening: Opening, token: [UInt8]?, clientHello: [UInt8]) {
        opening.stream.onRead = nil
        guard let raw = opening.stream.rawDescriptor, (try? TCP.configure(raw)) != nil,
            // Fails only without memory, and then nobody is served.
            let session = try? TLSSession(context: context, accepts: { _ in true })
        else { return opening.stream.close() }
        let connection = PairingConnection(
            stream: opening.stream, session: session, remoteAddress: opening.address)
        onArrival?(Arrival(connection: connection, token: token, clientHello: clientHello))
    }

    private func deadlinePassed() {
        for id in table.expire(now: loop.now) { drop(id) }
        armTimer()
    }

    private func armTimer() {
        if let next = table.nextDeadline { timer?.rearm(at: next) }
    }

    private func end(_ id: OpeningTable.ID) {
        table.remove(id)
        drop(id)
    }

    private func drop(_ id: OpeningTable.ID) {
        openings.removeValue(forKey: id)?.stream.close()
    }
}
