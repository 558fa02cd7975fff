import HandoffCrypto
import HandoffTransport
import LoopIO
import Testing

/// A TCP connection to which a test writes arbitrary bytes. Records "NAME read N", "NAME end" and
/// "NAME error".
final class RawClient {
    let name: String
    let stream: ByteStream
    /// The bytes of each read.
    private(set) var reads: [[UInt8]] = []

    private init(_ name: String, _ stream: ByteStream, _ fixture: TransportFixture) {
        self.name = name
        self.stream = stream
        stream.onRead = { [unowned self, unowned fixture] bytes in
            reads.append(bytes)
            fixture.note("\(name) read \(bytes.count)")
        }
        stream.onEnd = { [unowned fixture] in fixture.note("\(name) end") }
        // If the peer closes with unread bytes, TCP sends a reset.
        stream.onError = { [unowned fixture] _ in fixture.note("\(name) end") }
    }

    /// All received bytes.
    var received: [UInt8] { reads.flatMap { $0 } }

    /// Connects, and waits until the connection is made.
    static func connect(
        _ name: String = "raw", to address: SocketAddress, _ fixture: TransportFixture
    ) throws -> RawClient {
        var client: RawClient?
        let attempt = TCP.connect(to: address, on: fixture.loop) { [unowned fixture] result in
            switch consume result {
            case .success(let descriptor):
                client = (try? ByteStream(descriptor, on: fixture.loop)).map { RawClient(name, $0, fixture) }
            case .failure: break
            }
            fixture.note("\(name) connected")
        }
        try fixture.run(until: "\(name) connected")
        attempt.cancel()
        return try #require(client)
    }

    /// Takes ownership of a connection that a test's listener has accepted.
    static func accepted(
        _ name: String, _ descriptor: consuming Descriptor, _ fixture: TransportFixture
    ) throws -> RawClient {
        RawClient(name, try ByteStream(descriptor, on: fixture.loop), fixture)
    }

    /// Completes the handshake of `session` as a client, and sends its last flight.
    func shakeHands(_ session: TLSSession, _ fixture: TransportFixture) throws {
        var taken = 0
        while true {
            let fresh = reads[taken...].flatMap { $0 }
            taken = reads.count
            if !fresh.isEmpty { session.receive(fresh) }
            let step = session.step()
            let answer = session.takeCiphertext()
            if !answer.isEmpty { stream.write(answer) }
            if step == .done { return }
            try #require(step == .incomplete)
            let before = taken
            try fixture.run { [unowned self] _ in reads.count > before }
        }
    }
}
