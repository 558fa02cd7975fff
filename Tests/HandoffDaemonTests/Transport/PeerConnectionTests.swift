import HandoffAccount
import HandoffCrypto
import HandoffDaemon
import HandoffProtocol
import HandoffTLS
import LoopIO
import Testing

/// Connections after the gate, with real sockets and real TLS.
@Suite(.timeLimit(.minutes(1)))
struct PeerConnectionTests {
    private let fixture: TransportFixture

    init() throws {
        fixture = try TransportFixture()
    }

    @Test func bothSidesKnowEachOther() throws {
        let (client, server, _) = try fixture.connect()
        #expect(client.peerKey == fixture.serverKey.publicKey)
        #expect(server.peerKey == fixture.clientKey.publicKey)
        #expect((client.role, server.role) == (.client, .server))
        #expect((client.epoch, server.epoch) == (nil, 7))
    }

    @Test(arguments: [0, 1, 3072, 65_536, 900_000])
    func framesPassBothWays(count: Int) throws {
        let (client, server, _) = try fixture.connect()
        fixture.watch(client, "client")
        fixture.watch(server, "server")
        var bodies: [[UInt8]] = []
        server.onFrame = { [fixture] frame in
            bodies.append(frame.body)
            server.send(.response, frame.body)
            fixture.note("server got it")
        }
        let body = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        #expect(client.send(.request, body))
        try fixture.run(until: "server got it", "client got 4:\(count)")
        #expect(bodies == [body])
        #expect(client.waitingBytes == 0)
    }

    @Test func framesArriveInOrder() throws {
        let (client, server, _) = try fixture.connect()
        fixture.watch(server, "server")
        for count in 1...50 { client.send(.request, [UInt8](repeating: 0, count: count)) }
        try fixture.run(until: "server got 3:50")
        #expect(fixture.events.filter { $0.hasPrefix("server got") } == (1...50).map { "server got 3:\($0)" })
    }

    @Test func framesOfOneTurnLeaveInOneRecord() throws {
        let (raw, session, server) = try rawClient()
        let before = raw.received.count
        server.send(.notice, [UInt8](repeating: 1, count: 100))
        server.send(.notice, [UInt8](repeating: 2, count: 200))
        server.send(.response, [])
        let size = 105 + 205 + 5 + 22  // three frames with their heads, one record's overhead
        try fixture.run(until: "raw read \(size)")
        #expect(raw.received.count == before + size)
        withExtendedLifetime(session) {}
    }

    @Test func answerLeavesInTheTurnOfItsRequest() throws {
        let (raw, session, server) = try rawClient()
        server.allow(.live)
        server.onFrame = { _ in
            server.send(.response, [1])
            server.send(.response, [2])
        }
        try session.write([0, 0, 0, 1, 3, 0, 0, 0, 1, 3])
        raw.stream.write(session.takeCiphertext())
        try fixture.run(until: "raw read \(4 * 6 + 22)")
    }

    @Test func whatIsSentBeforeTheHandshakeIsDoneWaitsForIt() throws {
        let listener = try fixture.listen()
        var server: PeerConnection?
        listener.onConnection = { connection in
            server = connection
            connection.send(.hello, [1, 2, 3])
        }
        var client: PeerConnection?
        let dial = try fixture.dialer().dial(fixture.target([try #require(listener.localAddress)])) {
            [fixture] result in
            client = try? result.get()
            client?.allow(.helloOnly)
            if let client { fixture.watch(client, "client") }
        }
        try fixture.run(until: "client got 2:3")
        #expect(server?.isClosed == false)
        dial.cancel()
    }

    @Test func frameThatIsNotAllowedEndsTheConnection() throws {
        let (client, server, _) = try fixture.connect(caps: .nothing)
        fixture.watch(server, "server")
        fixture.watch(client, "client")
        client.send(.request, [])
        try fixture.run(
            until: "server ended: \(ConnectionEnd.frame(.tooLong(length: 1)))",
            "client ended: \(ConnectionEnd.finished)")
        #expect(server.isClosed)
        #expect(!server.send(.response, []))
    }

    @Test func lengthAboveTheCapEndsTheConnectionBeforeTheBodyComes() throws {
        let (raw, session, server) = try rawClient()
        server.allow(.helloOnly)
        fixture.watch(server, "server")
        try session.write([0xff, 0xff, 0xff, 0xff])
        raw.stream.write(session.takeCiphertext())
        try fixture.run(until: "server ended: \(ConnectionEnd.frame(.tooLong(length: .max)))")
    }

    @Test func goodbyeIsToldFromACut() throws {
        let (client, server, _) = try fixture.connect()
        fixture.watch(client, "client")
        fixture.watch(server, "server")
        client.send(.notice, [1])
        client.close("enough")
        #expect(client.isClosed)
        #expect(!fixture.events.contains("client ended: enough"), "not from inside close")
        try fixture.run(until: "client ended: enough", "server ended: \(ConnectionEnd.finished)")
        #expect(fixture.events.contains("server got 5:1"), "what was sent before is delivered")

        let (raw, session, cut) = try rawClient()
        fixture.watch(cut, "cut")
        raw.stream.shutdownWrite()
        try fixture.run(until: "cut ended: \(ConnectionEnd.cut)")
        withExtendedLifetime(session) {}
    }

    @Test func eachEndIsReportedOnce() throws {
        let (client, server, _) = try fixture.connect()
        fixture.watch(client, "client")
        fixture.watch(server, "server")
        client.close("one")
        client.close("two")
        server.close("three")
        try fixture.settle()
        #expect(fixture.events.filter { $0.contains("ended") } == ["client ended: one", "server ended: three"])
    }

    @Test func droppedConnectionIsACutForTheOther() throws {
        var (client, server, _): (PeerConnection?, PeerConnection, GateListener) = try fixture.connect()
        fixture.watch(server, "server")
        #expect(client != nil)
        client = nil
        try fixture.run { $0.contains { $0.hasPrefix("server ended") } }
        #expect(!fixture.events.contains("server ended: \(ConnectionEnd.finished)"))
    }

    @Test func changedRecordEndsTheConnection() throws {
        let (raw, session, server) = try rawClient()
        server.allow(.live)
        fixture.watch(server, "server")
        try session.write([0, 0, 0, 1, 3])
        var ciphertext = session.takeCiphertext()
        ciphertext[9] ^= 1
        raw.stream.write(ciphertext)
        try fixture.run { $0.contains { $0.hasPrefix("server ended: TLS failed") } }
    }

    @Test func silentClientIsClosedAfterThreeSeconds() throws {
        let (raw, server) = try startHandshake()
        fixture.clock.advance(by: .milliseconds(2999))
        try fixture.settle()
        #expect(!server.isClosed)
        fixture.clock.advance(by: .milliseconds(1))
        try fixture.run(until: "server ended: \(ConnectionEnd.timedOut(.handshake))")
        withExtendedLifetime(raw) {}
    }

    @Test func firstFrameMustComeWithinASecond() throws {
        let (client, server, _) = try fixture.connect()
        fixture.watch(client, "client")
        fixture.watch(server, "server")
        client.send(.request, [])
        try fixture.run(until: "server got 3:0")
        fixture.clock.advance(by: .milliseconds(999))
        try fixture.settle()
        #expect(!client.isClosed)
        fixture.clock.advance(by: .milliseconds(1))
        try fixture.run(until: "client ended: \(ConnectionEnd.timedOut(.frame))")
        #expect(!fixture.events.contains("server ended: \(ConnectionEnd.timedOut(.frame))"), "it had its frame")
    }

    @Test func ownerMayGiveMoreTimeForAFrame() throws {
        let (client, server, _) = try fixture.connect()
        fixture.watch(client, "client")
        fixture.watch(server, "server")
        client.expectFrame(within: nil)
        server.expectFrame(within: .seconds(2))
        fixture.clock.advance(by: .milliseconds(1999))
        try fixture.settle()
        #expect(!server.isClosed)
        fixture.clock.advance(by: .milliseconds(1))
        try fixture.run(until: "server ended: \(ConnectionEnd.timedOut(.frame))")
        #expect(!fixture.events.contains("client ended: \(ConnectionEnd.timedOut(.frame))"))
    }

    @Test func keyThatIsNotAcceptedIsToldToBothSides() throws {
        fixture.serverAccepts = { _ in false }
        let listener = try fixture.listen()
        var server: PeerConnection?
        listener.onConnection = { [fixture] connection in
            server = connection
            connection.onOpen = { _ in fixture.note("server open") }
            fixture.watch(connection, "server")
        }
        var client: PeerConnection?
        let dial = try fixture.dialer().dial(fixture.target([try #require(listener.localAddress)])) {
            [fixture] result in
            // TLS 1.3: the client is done first. It believes nothing before the server's first frame.
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

    @Test func pausedConnectionDeliversNothingAndThenAll() throws {
        let (client, server, _) = try fixture.connect()
        fixture.watch(server, "server")
        server.onFrame = { [fixture] frame in
            fixture.note("server got \(frame.body.count)")
            if frame.body.count == 1 { server.pauseReading() }
        }
        client.send(.request, [1])
        client.send(.request, [1, 2])
        try fixture.run(until: "server got 1")
        client.send(.request, [1, 2, 3])
        try fixture.settle()
        #expect(!fixture.events.contains("server got 2"))
        server.resumeReading()
        #expect(!fixture.events.contains("server got 2"), "not from inside resumeReading")
        try fixture.run(until: "server got 2", "server got 3")
    }

    @Test func otherSideThatDoesNotReadIsGivenUp() throws {
        var limits = TransportLimits()
        limits.waitingWrites = 1024 * 1024
        let (client, server, _) = try fixture.connect(limits)
        fixture.watch(client, "client")
        server.pauseReading()
        let body = [UInt8](repeating: 0, count: 256 * 1024)
        var sent = 0
        while client.send(.notice, body) {
            sent += 1
            try #require(sent < 1000)
            try fixture.settle()
        }
        try fixture.run(until: "client ended: \(ConnectionEnd.notReading)")
        #expect(sent >= 3)
    }

    @Test func handlerMayCloseInTheMiddleOfARead() throws {
        let (client, server, _) = try fixture.connect()
        fixture.watch(server, "server")
        server.onFrame = { [fixture] frame in
            fixture.note("server got \(frame.body.count)")
            server.close("seen enough")
        }
        client.send(.request, [1])
        client.send(.request, [1, 2])
        try fixture.run(until: "server ended: seen enough")
        #expect(!fixture.events.contains("server got 2"))
    }

    /// A server's connection whose client is a test that has passed the gate, but not gone on with TLS.
    private func startHandshake() throws -> (raw: RawClient, server: PeerConnection) {
        let listener = try fixture.listen()
        var server: PeerConnection?
        listener.onConnection = { [fixture] connection in
            server = connection
            fixture.watch(connection, "server")
            fixture.note("let in")
        }
        let raw = try RawClient.connect(to: try #require(listener.localAddress), fixture)
        raw.stream.write(try fixture.greeting().bytes)
        try fixture.run(until: "let in")
        return (raw, try #require(server))
    }

    /// A server's open connection whose client is a test with a TLS session in its hands.
    private func rawClient() throws -> (raw: RawClient, session: TLSSession, server: PeerConnection) {
        let listener = try fixture.listen()
        var server: PeerConnection?
        listener.onConnection = { [fixture] connection in
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
