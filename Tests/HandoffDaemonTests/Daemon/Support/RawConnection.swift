import LoopIO
import Testing

/// A TCP connection to a device on which a test writes arbitrary bytes.
final class RawConnection {
    private let fleet: Fleet
    private var attempt: Connecting?
    private var stream: ByteStream?
    /// All received bytes.
    private(set) var received: [UInt8] = []
    /// Whether the other side has ended the connection, in order or with a reset.
    private(set) var hasEnded = false

    /// Connects, and then writes.
    init(to address: SocketAddress, writing bytes: [UInt8], _ fleet: Fleet) {
        self.fleet = fleet
        attempt = TCP.connect(to: address, on: fleet.loop) { [unowned self] result in
            switch consume result {
            case .success(let descriptor): connected(try? ByteStream(descriptor, on: fleet.loop), bytes)
            case .failure: connected(nil, bytes)
            }
        }
    }

    deinit {
        attempt?.cancel()
        stream?.close()
    }

    /// Waits for the end of the connection.
    func awaitEnd(_ sourceLocation: SourceLocation = #_sourceLocation) throws {
        try fleet.run("the end of the connection", sourceLocation) { hasEnded }
    }

    private func connected(_ stream: ByteStream?, _ bytes: [UInt8]) {
        self.stream = stream
        guard let stream else {
            hasEnded = true
            return
        }
        stream.onRead = { [unowned self] in received += $0 }
        stream.onEnd = { [unowned self] in hasEnded = true }
        stream.onError = { [unowned self] _ in hasEnded = true }
        stream.write(bytes)
    }
}
