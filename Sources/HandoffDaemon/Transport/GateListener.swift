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

    private struct Ungated {
        let stream: ByteStream
        let address: SocketAddress
        var buffer = GateBuffer()
    }

    /// A connection that has passed the gate and starts its handshake when this returns: set its handlers, and keep it.
    package var onConnection: ((PeerConnection) -> Void)?

    private let loop: EventLoop
    private let listener: Listener
    private let context: TLSContext
    private let limits: TransportLimits
    private let judge: Judge
    private var table: GateTable
    private var connections: [GateTable.ID: Ungated] = [:]
    private var timer: LoopTimer?

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
        table = GateTable(limits: limits)
        listener = try Listener(adopting: descriptor, on: loop)
        timer = loop.timer(after: limits.gate) { [weak self] in self?.deadlinePassed() }
        listener.onAccept = { [weak self] descriptor, address in
            guard let address else { return }
            self?.accept(descriptor, from: address)
        }
    }

    /// Connections that have not passed the gate.
    package var ungatedCount: Int { table.count }

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
        timer?.cancel()
        for connection in connections.values { connection.stream.close() }
        connections = [:]
        onConnection = nil
    }

    private func accept(_ descriptor: consuming Descriptor, from address: SocketAddress) {
        let stream: ByteStream
        do throws(Errno) {
            stream = try ByteStream(descriptor, on: loop)
        } catch {
            return  // No memory to watch it; the descriptor is closed.
        }
        let (id, evicted) = table.admit(from: address.address, now: loop.now)
        if let evicted { drop(evicted) }
        connections[id] = Ungated(stream: stream, address: address)
        stream.onEnd = { [weak self] in self?.end(id) }
        stream.onError = { [weak self] _ in self?.end(id) }
        stream.onRead = { [weak self] in self?.received($0, id) }
        // Otherwise it is armed for an older connection already, or fires early once and looks again.
        if timer?.isArmed == false { armTimer() }
    }

    private func received(_ bytes: [UInt8], _ id: GateTable.ID) {
        switch connections[id]?.buffer.append(bytes) {
        case nil, .incomplete: return
        case .refused: end(id)
        case .complete(let token, let clientHello):
            guard let source = connections[id]?.address.address, let verdict = judge(token, clientHello, source),
                let passed = connections.removeValue(forKey: id)
            else { return end(id) }
            table.remove(id)
            open(passed, verdict, clientHello)
        }
    }

    private func open(_ passed: Ungated, _ verdict: GateVerdict, _ clientHello: [UInt8]) {
        passed.stream.onRead = nil
        guard let raw = passed.stream.rawDescriptor,
            // Without them it would only be slower, or a dead peer be noticed later.
            (try? TCP.configure(raw)) != nil,
            // Both fail only without memory, and then nobody is served.
            let session = try? TLSSession(context: context, accepts: verdict.accepts),
            let connection = try? PeerConnection(
                stream: passed.stream, session: session, role: .server, remoteAddress: passed.address,
                isIntroduction: verdict.isIntroduction, limits: limits, on: loop)
        else { return passed.stream.close() }
        onConnection?(connection)
        connection.answer(clientHello)
    }

    private func deadlinePassed() {
        for id in table.expire(now: loop.now) { drop(id) }
        armTimer()
    }

    private func armTimer() {
        if let next = table.nextDeadline { timer?.rearm(at: next) }
    }

    private func end(_ id: GateTable.ID) {
        table.remove(id)
        drop(id)
    }

    /// Closes a connection that the table has forgotten. Nothing was written, so nothing but FIN or RST leaves.
    private func drop(_ id: GateTable.ID) {
        connections.removeValue(forKey: id)?.stream.close()
    }
}
