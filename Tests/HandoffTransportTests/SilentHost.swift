import HandoffTransport
import LoopIO
import Testing

/// Accepts connections and sends only a given reply, by default none. Records "silent N connected",
/// "silent N read", "silent N end".
final class SilentHost {
    let address: SocketAddress
    private(set) var accepted: [ByteStream] = []
    private let listener: Listener

    init(_ fixture: TransportFixture, answer: [UInt8] = []) throws {
        listener = try Listener(
            adopting: BoundPort.bindTCP(port: 0, address: .loopbackIPv4), on: fixture.loop)
        address = try #require(listener.localAddress)
        listener.onAccept = { [unowned self, unowned fixture] descriptor, _ in
            let number = accepted.count
            guard let stream = try? ByteStream(descriptor, on: fixture.loop) else { return }
            stream.onRead = { [unowned fixture, unowned stream] _ in
                stream.write(answer)
                fixture.note("silent \(number) read")
            }
            stream.onEnd = { [unowned fixture] in fixture.note("silent \(number) end") }
            stream.onError = { [unowned fixture] _ in fixture.note("silent \(number) end") }
            accepted.append(stream)
            fixture.note("silent \(number) connected")
        }
    }
}
