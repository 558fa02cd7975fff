import LoopIO

/// Forwards TCP connections to a device, and keeps the bytes that the first client wrote before the
/// first reply.
final class Wiretap {
    /// The address of the listener.
    let address: SocketAddress
    /// The bytes that the first client wrote before the device replied.
    private(set) var opening: [UInt8] = []
    /// The number of bytes that the device sent to the first client.
    private(set) var answered = 0
    private let listener: Listener
    private var pipes: [Pipe] = []

    init(before device: SocketAddress, on loop: EventLoop) throws {
        listener = try Listener(adopting: try BoundPort.bindTCP(port: 0, address: .loopbackIPv4), on: loop)
        address = listener.localAddress ?? device
        listener.onAccept = { [unowned self] descriptor, _ in
            guard let client = try? ByteStream(descriptor, on: loop) else { return }
            let isFirst = pipes.isEmpty
            pipes.append(
                Pipe(client, to: device, on: loop) { [unowned self] bytes, isAnswer in
                    guard isFirst else { return }
                    if isAnswer { answered += bytes.count } else if answered == 0 { opening += bytes }
                })
        }
    }

    /// One forwarded connection.
    private final class Pipe {
        private let client: ByteStream
        private var server: ByteStream?
        private var early: [UInt8] = []
        private var attempt: Connecting?

        init(
            _ client: ByteStream, to device: SocketAddress, on loop: EventLoop,
            onBytes: @escaping (_ bytes: [UInt8], _ isAnswer: Bool) -> Void
        ) {
            self.client = client
            client.onRead = { [unowned self] bytes in
                onBytes(bytes, false)
                if let server { server.write(bytes) } else { early += bytes }
            }
            client.onEnd = { [unowned self] in server?.close() }
            client.onError = { [unowned self] _ in server?.close() }
            attempt = TCP.connect(to: device, on: loop) { [unowned self] result in
                switch consume result {
                case .success(let descriptor): join(try? ByteStream(descriptor, on: loop), onBytes)
                case .failure: client.close()
                }
            }
        }

        private func join(_ server: ByteStream?, _ onBytes: @escaping ([UInt8], Bool) -> Void) {
            self.server = server
            server?.onRead = { [unowned self] bytes in
                onBytes(bytes, true)
                client.write(bytes)
            }
            server?.onEnd = { [unowned self] in client.close() }
            server?.onError = { [unowned self] _ in client.close() }
            server?.write(early)
        }
    }
}
