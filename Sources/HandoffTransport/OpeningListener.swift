import HandoffModel
package import LoopIO

/// Receives the connections that have sent enough. Called on the listener's loop.
package protocol OpeningListenerDelegate: AnyObject {
    /// Called when a connection has sent enough to start TLS.
    func opened(_ opening: OpeningListener.Opening)
    /// Called before closing a connection whose bytes cannot become a token and a record.
    func refused(_ buffer: GateBuffer)
}

extension OpeningListenerDelegate {
    package func refused(_ buffer: GateBuffer) {}
}

/// A listening TCP socket that reads the bytes of each connection before TLS, limited in number and
/// time, and passes complete ones to its delegate. It never sends any bytes.
///
/// Use it on its loop's thread only. Releasing it closes the socket and all connections that were
/// not passed on.
package final class OpeningListener {
    /// A connection that has sent enough to start TLS. The receiver owns its stream, which is not
    /// read until the receiver sets a handler.
    package struct Opening {
        /// The connection's stream, without the bytes in `token` and `clientHello`.
        package let stream: ByteStream
        /// The address of the caller.
        package let address: SocketAddress
        /// The bytes before the ClientHello, unchecked.
        package let token: [UInt8]?
        /// The ClientHello record.
        package let clientHello: [UInt8]
    }

    private struct Waiting {
        let stream: ByteStream
        let address: SocketAddress
        var buffer: GateBuffer
    }

    /// If it is nil, connections that have sent enough are closed.
    package weak var delegate: (any OpeningListenerDelegate)?

    private let loop: EventLoop
    private let listener: Listener
    /// The initial buffer of each connection.
    private let buffer: GateBuffer
    private var table: GateTable
    private var connections: [GateTable.ID: Waiting] = [:]
    private var timer: LoopTimer?

    /// Starts listening.
    ///
    /// - Parameters:
    ///   - descriptor: a listening TCP socket.
    ///   - buffer: the buffer that parses the bytes of each connection.
    ///   - limits: the maximum number of waiting connections, in total and per address, and their
    ///     maximum time.
    package init(
        _ descriptor: consuming Descriptor, buffer: GateBuffer, limits: TransportLimits, on loop: EventLoop
    ) throws(Errno) {
        self.loop = loop
        self.buffer = buffer
        table = GateTable(limits: limits)
        try TCP.configure(descriptor.raw)  // accept(2) copies the options to each connection
        listener = try Listener(adopting: descriptor, on: loop)
        timer = loop.timer(after: limits.gateTimeout) { [weak self] in self?.deadlinePassed() }
        listener.onAccept = { [weak self] descriptor, address in
            guard let address else { return }
            self?.accept(descriptor, from: address)
        }
    }

    deinit {
        close()
    }

    /// The number of connections that have not sent enough.
    var count: Int { table.count }

    /// The bound address and port.
    var localAddress: SocketAddress? { listener.localAddress }

    /// Called when descriptors or memory have run out. The listener retries automatically.
    var onShortage: ((Errno) -> Void)? {
        get { listener.onShortage }
        set { listener.onShortage = newValue }
    }

    /// Closes the socket and every connection that was not passed on.
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
            return  // No memory to watch it. The descriptor is closed.
        }
        let (id, evicted) = table.admit(from: address.address, now: loop.now)
        if let evicted { drop(evicted) }
        connections[id] = Waiting(stream: stream, address: address, buffer: buffer)
        stream.onEnd = { [weak self] in self?.end(id) }
        stream.onError = { [weak self] _ in self?.end(id) }
        stream.onRead = { [weak self] in self?.received($0, id) }
        // Otherwise the timer is armed for an older connection, or fires early once and is armed
        // again.
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

    /// Closes a connection that was removed from the table. Nothing was written, so only a FIN or
    /// RST is sent.
    private func drop(_ id: GateTable.ID) {
        connections.removeValue(forKey: id)?.stream.close()
    }
}
