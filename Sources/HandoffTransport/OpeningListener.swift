package import LoopIO
import Timing

/// Who gets the connections that have said enough. On the listener's loop.
package protocol OpeningListenerDelegate: AnyObject {
    /// A connection has said enough.
    func opened(_ opening: OpeningListener.Opening)
    /// A connection was closed for bytes that cannot become token and record.
    func refused(_ buffer: GateBuffer)
}

extension OpeningListenerDelegate {
    package func refused(_ buffer: GateBuffer) {}
}

/// A listening TCP socket that reads what each connection says before TLS, within bounds of number and time, and hands on
/// those that have said enough. It never says a byte itself.
///
/// Used on its loop's thread only; dropping it closes the socket and all connections that were not handed on.
package final class OpeningListener {
    /// A connection that has said enough to begin TLS. Its stream belongs to who gets it, and is not read meanwhile.
    package struct Opening {
        /// The connection, with what was read of it put back.
        package let stream: ByteStream
        /// The address of the caller.
        package let address: SocketAddress
        /// What stood before the ClientHello, unchecked.
        package let token: [UInt8]?
        /// The ClientHello record.
        package let clientHello: [UInt8]
    }

    private struct Waiting {
        let stream: ByteStream
        let address: SocketAddress
        var buffer: GateBuffer
    }

    /// Without one, connections that have said enough are closed.
    package weak var delegate: (any OpeningListenerDelegate)?

    private let loop: EventLoop
    private let listener: Listener
    /// Before the first byte of a connection.
    private let buffer: GateBuffer
    private var table: GateTable
    private var connections: [GateTable.ID: Waiting] = [:]
    private var timer: LoopTimer?

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - descriptor: a listening TCP socket.
    ///   - buffer: what each connection has to send.
    ///   - limits: how many connections wait at most, in all and from one address, and how long each may take.
    package init(
        _ descriptor: consuming Descriptor, buffer: GateBuffer, limits: TransportLimits, on loop: EventLoop
    ) throws(Errno) {
        self.loop = loop
        self.buffer = buffer
        table = GateTable(limits: limits)
        try TCP.configure(descriptor.raw)  // for each connection: accept(2) copies the options of the listening socket
        listener = try Listener(adopting: descriptor, on: loop)
        timer = loop.timer(after: limits.gate) { [weak self] in self?.deadlinePassed() }
        listener.onAccept = { [weak self] descriptor, address in
            guard let address else { return }
            self?.accept(descriptor, from: address)
        }
    }

    deinit {
        close()
    }

    /// Connections that have not said enough.
    var count: Int { table.count }

    /// The bound address and port.
    var localAddress: SocketAddress? { listener.localAddress }

    /// Descriptors or memory for new connections have run out; it goes on by itself.
    var onShortage: ((Errno) -> Void)? {
        get { listener.onShortage }
        set { listener.onShortage = newValue }
    }

    /// Closes the socket and every connection that was not handed on.
    package func close() {
        listener.close()
        timer?.cancel()
        for connection in connections.values { connection.stream.close() }
        connections = [:]
        delegate = nil
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
        connections[id] = Waiting(stream: stream, address: address, buffer: buffer)
        stream.onEnd = { [weak self] in self?.end(id) }
        stream.onError = { [weak self] _ in self?.end(id) }
        stream.onRead = { [weak self] in self?.received($0, id) }
        // Otherwise it is armed for an older connection already, or fires early once and looks again.
        if timer?.isArmed == false { armTimer() }
    }

    private func received(_ bytes: [UInt8], _ id: GateTable.ID) {
        switch connections[id]?.buffer.append(bytes) {
        case nil, .incomplete: return
        case .refused:
            if let buffer = connections[id]?.buffer { delegate?.refused(buffer) }
            end(id)
        case .complete(let token, let clientHello):
            guard let ready = connections.removeValue(forKey: id) else { return }
            table.remove(id)
            ready.stream.onRead = nil
            ready.stream.onEnd = nil
            ready.stream.onError = nil
            guard let delegate else { return ready.stream.close() }
            delegate.opened(
                Opening(stream: ready.stream, address: ready.address, token: token, clientHello: clientHello))
        }
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
