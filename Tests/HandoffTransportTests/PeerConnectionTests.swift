import Glibc
import HandoffAccount
import HandoffCrypto
import HandoffProtocol
import HandoffTransport
import LoopIO
import Testing

/// Connections that have passed the gate, with real sockets and real TLS.
@Suite(.timeLimit(.minutes(5))) struct PeerConnectionTests {
    private let fixture: TransportFixture

    init() throws {
        fixture = try TransportFixture()
    }

    @Test func `both sides know the peer's key`() throws {
        let (client, server, _) = try fixture.connect()
        #expect(client.peerKey == fixture.serverKey.publicKey)
        #expect(server.peerKey == fixture.clientKey.publicKey)
        #expect((client.role, server.role) == (.client, .server))
    }

    @Test(arguments: [0, 1, 3072, 65_536, 900_000])
    func `frames are delivered in both directions`(count: Int) throws {
        let (client, server, _) = try fixture.connect()
        fixture.watch(client, "client")
        var bodies: [[UInt8]] = []
        fixture.watch(server, "server") { frame in
            bodies.append(frame.body)
            server.send([Frame(.response, frame.body)])
        }
        let body = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let isSent = client.send([Frame(.request, body)])
        #expect(isSent)
        try fixture.run(until: "server got 3:\(count)", "client got 4:\(count)")
        #expect(bodies == [body])
        #expect(client.waitingBytes == 0)
    }

    @Test func `frames arrive in order`() throws {
        let (client, server, _) = try fixture.connect()
        fixture.watch(server, "server")
        for count in 1...50 { client.send([Frame(.request, [UInt8](repeating: 0, count: count))]) }
        try fixture.run(until: "server got 3:50")
        #expect(fixture.events.filter { $0.hasPrefix("server got") } == (1...50).map { "server got 3:\($0)" })
    }

    @Test func `frames that are sent together are sent immediately in one record`() throws {
        let (raw, session, server) = try rawClient()
        let before = raw.received.count
        server.send([
            Frame(.notice, [UInt8](repeating: 1, count: 100)), Frame(.notice, [UInt8](repeating: 2, count: 200)),
        ])
        // The bytes are in the peer's socket without a turn of the loop.
        let descriptor = try #require(raw.stream.rawDescriptor)
        var buffer = [UInt8](repeating: 0, count: 1024)
        let there = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT | MSG_PEEK))
        #expect(there == 105 + 205 + 22)
        server.send([Frame(.response, [])])
        let size = 105 + 205 + 22 + 5 + 22  // three frames with their headers, and the overhead of two records
        try fixture.run(until: "raw read \(size)")
        #expect(raw.received.count == before + size)
        withExtendedLifetime(session) {}
    }

    @Test func `a reply is sent in the turn of its request`() throws {
        let (raw, session, server) = try rawClient()
        server.onBytes = { _ in
            server.send([Frame(.response, [1])])
            server.send([Frame(.response, [2])])
        }
        try session.write([1])
        raw.stream.write(session.takeCiphertext())
        try fixture.run(until: "raw read \(2 * 6 + 22)")
    }

    @Test func `frames sent before the handshake is done are queued`() throws {
        let listener = try fixture.listen()
        var server: PeerConnection?
        fixture.onConnection = { connection in
            server = connection
            connection.send([Frame(.hello, [1, 2, 3])])
        }
        var client: PeerConnection?
        let dial = try fixture.dialer().dial(fixture.target([try #require(listener.localAddress)])) {
            [fixture] result in
            client = try? result.get()
            if let client { fixture.watch(client, "client") }
        }
        try fixture.run(until: "client got 2:3")
        #expect(server?.isClosed == false)
        dial.cancel()
    }

    @Test func `bytes wait until there is a handler`() throws {
        let (client, server, _) = try fixture.connect()
        fixture.watch(client, "client")
        let body = [UInt8](repeating: 1, count: 4 * 1024 * 1024)
        // Exceeds the size to which a sender's buffer grows (tcp_wmem). The buffer of a receiver
        // that does not read does not grow.
        for _ in 0..<4 { client.send([Frame(.statements, body)]) }
        try fixture.settle()
        #expect(client.waitingBytes > 0, "only the kernel's buffers are filled in advance")
        fixture.watch(server, "server")
        try fixture.run { events in events.count(where: { $0 == "server got 1:\(body.count)" }) == 4 }
    }

    @Test func `bytes received with the handshake wait too`() throws {
        let listener = try fixture.listen()
        var server: PeerConnection?
        fixture.onConnection = { [fixture] connection in
            server = connection
            connection.onOpen = { _ in fixture.note("server open") }
        }
        var client: PeerConnection?
        let dial = try fixture.dialer().dial(fixture.target([try #require(listener.localAddress)])) { result in
            client = try? result.get()
            client?.send([Frame(.hello, [1])])
        }
        try fixture.run(until: "server open")
        try fixture.settle()
        fixture.watch(try #require(server), "server")
        #expect(!fixture.events.contains("server got 2:1"), "not from inside the setter")
        try fixture.run(until: "server got 2:1")
        dial.cancel()
    }

    @Test func `an announced end differs from a cut`() throws {
        let (client, server, _) = try fixture.connect()
        fixture.watch(client, "client")
        fixture.watch(server, "server")
        client.send([Frame(.notice, [1])])
        client.close("enough")
        #expect(client.isClosed)
        #expect(!fixture.events.contains("client ended: enough"), "not from inside close")
        try fixture.run(until: "client ended: enough", "server ended: \(ConnectionEnd.finished)")
        #expect(fixture.events.contains("server got 5:1"), "frames sent before are delivered")

        let (raw, session, cut) = try rawClient()
        fixture.watch(cut, "cut")
        cut.send([Frame(.notice, [1])])
        raw.stream.shutdownWrite()
        try fixture.run(until: "cut ended: \(ConnectionEnd.cut)")
        withExtendedLifetime(session) {}
    }

    @Test func `each end is reported once`() throws {
        let (client, server, _) = try fixture.connect()
        fixture.watch(client, "client")
        fixture.watch(server, "server")
        client.close("one")
        client.close("two")
        server.close("three")
        try fixture.settle()
        #expect(fixture.events.filter { $0.contains("ended") } == ["client ended: one", "server ended: three"])
    }

    @Test func `a released connection is a cut for the peer`() throws {
        var (client, server, _): (PeerConnection?, PeerConnection, GateListener) = try fixture.connect()
        fixture.watch(server, "server")
        #expect(client != nil)
        client = nil
        try fixture.run { $0.contains { $0.hasPrefix("server ended") } }
        #expect(!fixture.events.contains("server ended: \(ConnectionEnd.finished)"))
    }

    @Test func `an aborted connection is a cut for the peer and reports nothing`() throws {
        let (client, server, _) = try fixture.connect()
        fixture.watch(client, "client")
        fixture.watch(server, "server")
        client.send([Frame(.notice, [1])])
        client.abort()
        #expect(client.isClosed)
        try fixture.run { $0.contains { $0.hasPrefix("server ended") } }
        try fixture.settle()
        #expect(!fixture.events.contains("server ended: \(ConnectionEnd.finished)"))
        #expect(!fixture.events.contains { $0.hasPrefix("client ended") })
    }

    @Test func `both ends derive the same binding and other connections another`() throws {
        let (client, server, _) = try fixture.connect()
        let binding = try #require(client.channelBinding)
        #expect(binding.count == 32)
        #expect(server.channelBinding == binding)
        let other = try TransportFixture()
        #expect(try other.connect().client.channelBinding != binding)
        client.close("enough")
        #expect(client.channelBinding == nil)
    }

    @Test func `bytes and frames are delivered in the order of sending`() throws {
        let (client, server, _) = try fixture.connect()
        fixture.watch(server, "server")
        let isSent = client.send([0, 0, 0, 2, FrameKind.request.rawValue, 7])
        client.send([Frame(.notice, [1, 2])])
        #expect(isSent)
        try fixture.run(until: "server got 5:2")
        #expect(fixture.events.filter { $0.hasPrefix("server got") } == ["server got 3:1", "server got 5:2"])
        client.close("enough")
        let isSentLate = client.send([1])
        #expect(!isSentLate)
    }

    @Test func `a changed record ends the connection`() throws {
        let (raw, session, server) = try rawClient()
        fixture.watch(server, "server")
        try session.write([0, 0, 0, 1, 3])
        var ciphertext = session.takeCiphertext()
        ciphertext[9] ^= 1
        raw.stream.write(ciphertext)
        try fixture.run { $0.contains { $0.hasPrefix("server ended: TLS failed") } }
    }

    @Test func `a silent client is disconnected after three seconds`() throws {
        let (raw, server) = try startHandshake()
        fixture.clock.advance(by: .milliseconds(2999))
        try fixture.settle()
        #expect(!server.isClosed)
        fixture.clock.advance(by: .milliseconds(1))
        try fixture.run(until: "server ended: \(ConnectionEnd.timedOut)")
        withExtendedLifetime(raw) {}
    }

    @Test func `a handshake has no deadline if its owner has one`() throws {
        var limits = TransportLimits()
        limits.handshakeTimeout = nil
        let (raw, server) = try startHandshake(limits)
        fixture.clock.advance(by: .seconds(3600))
        try fixture.settle()
        #expect(!server.isClosed)
        withExtendedLifetime(raw) {}
    }

    @Test func `an open connection has no deadline`() throws {
        let (client, server, _) = try fixture.connect()
        fixture.clock.advance(by: .seconds(3600))
        try fixture.settle()
        #expect(!client.isClosed && !server.isClosed)
    }

    @Test func `rejection of a key is reported to both sides`() throws {
        fixture.serverAccepts = { _ in false }
        let listener = try fixture.listen()
        var server: PeerConnection?
        fixture.onConnection = { [fixture] connection in
            server = connection
            connection.onOpen = { _ in fixture.note("server open") }
            fixture.watch(connection, "server")
        }
        var client: PeerConnection?
        let dial = try fixture.dialer().dial(fixture.target([try #require(listener.localAddress)])) {
            [fixture] result in
            // In TLS 1.3 the client is done first. It is not accepted before the server's first
            // frame.
            client = try? result.get()
            if let client { fixture.watch(client, "client") }
        }
        try fixture.run(
            until: "server ended: \(ConnectionEnd.tls(.keyNotAccepted))",
            "client ended: \(ConnectionEnd.tls(.alert(42)))")
        #expect(!fixture.events.contains("server open"))
        #expect(server?.peerKey == nil)
        dial.cancel()
    }

    @Test func `a paused connection delivers nothing, and everything afterwards`() throws {
        let (client, server, _) = try fixture.connect()
        fixture.watch(server, "server") { frame in
            if frame.body.count == 1 { server.pauseReading() }
        }
        client.send([Frame(.request, [1])])
        try fixture.run(until: "server got 3:1")
        client.send([Frame(.request, [1, 2])])
        try fixture.settle()
        #expect(!fixture.events.contains("server got 3:2"))
        server.resumeReading()
        #expect(!fixture.events.contains("server got 3:2"), "not from inside resumeReading")
        try fixture.run(until: "server got 3:2")
    }

    @Test func `a pause during a large read keeps the rest in order`() throws {
        let (client, server, _) = try fixture.connect()
        var pieces = 0
        let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 251) }
        var received: [UInt8] = []
        server.onBytes = { [fixture] bytes in
            received += bytes
            pieces += 1
            server.pauseReading()
            fixture.note("piece \(pieces)")
        }
        client.send([Frame(.statements, body)])
        while received.count < body.count + 5 {
            let next = pieces + 1
            try fixture.run(until: "piece \(next)")
            server.resumeReading()
        }
        #expect(Array(received.dropFirst(5)) == body)
        #expect(pieces > 5)
    }

    @Test func `a pause does not stop a handshake`() throws {
        let listener = try fixture.listen()
        var server: PeerConnection?
        fixture.onConnection = { [fixture] connection in
            server = connection
            connection.pauseReading()
            connection.onOpen = { _ in fixture.note("server open") }
        }
        let dial = try fixture.dialer().dial(fixture.target([try #require(listener.localAddress)])) { _ in }
        try fixture.run(until: "server open")
        #expect(server?.isClosed == false)
        dial.cancel()
    }

    @Test func `a peer that does not read is disconnected`() throws {
        var limits = TransportLimits()
        limits.maxPendingWrites = 1024 * 1024
        let (client, server, _) = try fixture.connect(limits)
        fixture.watch(client, "client")
        server.pauseReading()
        let frame = Frame(.notice, [UInt8](repeating: 0, count: 256 * 1024))
        var sent = 0
        while client.send([frame]) {
            sent += 1
            try #require(sent < 1000)
            try fixture.settle()
        }
        try fixture.run(until: "client ended: \(ConnectionEnd.notReading)")
        #expect(sent >= 3)
    }

    @Test func `a handler may close during a read`() throws {
        let (client, server, _) = try fixture.connect()
        fixture.watch(client, "client")
        fixture.watch(server, "server")
        server.onBytes = { [fixture] bytes in
            fixture.note("piece")
            server.close("seen enough")
        }
        client.send([Frame(.statements, [UInt8](repeating: 0, count: 1_000_000))])
        try fixture.run(until: "server ended: seen enough")
        #expect(fixture.events.count { $0 == "piece" } == 1)
    }

    /// Returns a server's connection whose client is a test that has passed the gate, but has not
    /// continued TLS.
    private func startHandshake(
        _ limits: TransportLimits = TransportLimits()
    ) throws -> (raw: RawClient, server: PeerConnection) {
        let listener = try fixture.listen(limits)
        var server: PeerConnection?
        fixture.onConnection = { [fixture] connection in
            server = connection
            fixture.watch(connection, "server")
            fixture.note("let in")
        }
        let raw = try RawClient.connect(to: try #require(listener.localAddress), fixture)
        raw.stream.write(try fixture.greeting().bytes)
        try fixture.run(until: "let in")
        return (raw, try #require(server))
    }

    /// Returns a server's open connection whose client is a test that controls the TLS session.
    private func rawClient() throws -> (raw: RawClient, session: TLSSession, server: PeerConnection) {
        let listener = try fixture.listen()
        var server: PeerConnection?
        fixture.onConnection = { [fixture] connection in
            server = connection
            connection.onOpen = { _ in fixture.note("raw server open") }
        }
        let raw = try RawClient.connect(to: try #require(listener.localAddress), fixture)
        let greeting = try fixture.greeting()
        raw.stream.write(greeting.bytes)
        try raw.shakeHands(greeting.session, fixture)
        try fixture.run(until: "raw server open")
        return (raw, greeting.session, try #require(server))
    }
}
