import HandoffAccount
import HandoffCrypto
import HandoffTransport
import LoopIO
import Testing

/// The gate against unknown callers, with real sockets.
@Suite(.timeLimit(.minutes(5))) struct GateListenerTests {
    private let fixture: TransportFixture
    private let listener: GateListener
    private let address: SocketAddress

    init() throws {
        fixture = try TransportFixture()
        listener = try fixture.listen()
        address = try #require(listener.localAddress)
        fixture.onConnection = { [fixture] _ in fixture.note("let in") }
    }

    @Test func `a valid token opens the gate`() throws {
        let client = try RawClient.connect(to: address, fixture)
        client.stream.write(try fixture.greeting().bytes)
        try fixture.run(until: "let in")
        #expect(listener.ungatedCount == 0)
    }

    @Test func `any changed byte closes the connection without a reply`() throws {
        let greeting = try fixture.greeting().bytes
        for index in [0, 8, 20, 39, 41, 42, 51, 60, 120, greeting.count - 1] {
            let client = try RawClient.connect("raw \(index)", to: address, fixture)
            var changed = greeting
            changed[index] ^= 1
            client.stream.write(changed)
            try fixture.run(until: "raw \(index) end")
            #expect(client.received.isEmpty)
        }
        #expect(!fixture.events.contains("let in"))
        #expect(listener.ungatedCount == 0)
    }

    @Test(arguments: [0, 1]) func `a token of an earlier draft is rejected and reported`(missing: Int) throws {
        let hello = try fixture.greeting().bytes.dropFirst(Gate.tokenCount)
        let client = try RawClient.connect(to: address, fixture)
        client.stream.write([UInt8](repeating: 7, count: 32) + hello.dropLast(missing))
        try fixture.run(until: "raw end")
        #expect(client.received.isEmpty && !fixture.events.contains("let in"))
        // A truncated token is not one of an earlier client.
        #expect(fixture.events.contains("refused a former token of 32") == (missing == 0))
    }

    @Test func `a copied token with another hello is rejected`() throws {
        let token = try fixture.greeting().bytes.prefix(Gate.tokenCount)
        let hello = try fixture.greeting().bytes.dropFirst(Gate.tokenCount)
        let client = try RawClient.connect(to: address, fixture)
        client.stream.write(Array(token + hello))
        try fixture.run(until: "raw end")
        #expect(client.received.isEmpty)
        #expect(!fixture.events.contains("let in"))
    }

    @Test func `a copied token with its hello is rejected the second time`() throws {
        let greeting = try fixture.greeting().bytes
        let first = try RawClient.connect("first", to: address, fixture)
        first.stream.write(greeting)
        try fixture.run(until: "let in")
        let second = try RawClient.connect("second", to: address, fixture)
        second.stream.write(greeting)
        try fixture.run(until: "second end")
        #expect(second.received.isEmpty)
        #expect(fixture.events.count { $0 == "let in" } == 1)
    }

    @Test func `bytes after the hello are rejected`() throws {
        let client = try RawClient.connect(to: address, fixture)
        client.stream.write(try fixture.greeting().bytes + [0])
        try fixture.run(until: "raw end")
        #expect(!fixture.events.contains("let in"))
    }

    @Test func `a silent connection is closed after one second`() throws {
        let client = try RawClient.connect(to: address, fixture)
        try fixture.settle()
        #expect(listener.ungatedCount == 1)
        fixture.clock.advance(by: .milliseconds(999))
        try fixture.settle()
        #expect(listener.ungatedCount == 1)
        fixture.clock.advance(by: .milliseconds(1))
        try fixture.run(until: "raw end")
        #expect(client.received.isEmpty)
        #expect(listener.ungatedCount == 0)
    }

    @Test func `slowly arriving bytes do not extend the timeout`() throws {
        let greeting = try fixture.greeting().bytes
        let client = try RawClient.connect(to: address, fixture)
        try fixture.settle()
        for byte in greeting.prefix(9) {
            client.stream.write([byte])
            try fixture.settle()
            fixture.clock.advance(by: .milliseconds(100))
        }
        try fixture.settle()
        #expect(listener.ungatedCount == 1)
        client.stream.write(Array(greeting[9..<20]))
        fixture.clock.advance(by: .milliseconds(100))
        try fixture.run(until: "raw end")
        #expect(client.received.isEmpty)
    }

    @Test func `the timeout of a later connection starts later`() throws {
        let first = try RawClient.connect("first", to: address, fixture)
        try fixture.settle()
        fixture.clock.advance(by: .milliseconds(600))
        let second = try RawClient.connect("second", to: address, fixture)
        try fixture.settle()
        fixture.clock.advance(by: .milliseconds(400))
        try fixture.run(until: "first end")
        try fixture.settle()
        #expect(listener.ungatedCount == 1)
        fixture.clock.advance(by: .milliseconds(600))
        try fixture.run(until: "second end")
        #expect(first.received.isEmpty && second.received.isEmpty)
    }

    @Test func `a closed connection frees its place`() throws {
        let client = try RawClient.connect(to: address, fixture)
        try fixture.settle()
        #expect(listener.ungatedCount == 1)
        client.stream.close()
        try fixture.settle()
        #expect(listener.ungatedCount == 0)
    }

    @Test func `the ninth connection of an address evicts the first`() throws {
        var idle: [RawClient] = []
        for number in 0..<8 {
            idle.append(try RawClient.connect("idle \(number)", to: address, fixture))
            try fixture.settle()
        }
        let good = try RawClient.connect("good", to: address, fixture)
        good.stream.write(try fixture.greeting().bytes)
        try fixture.run(until: "idle 0 end", "let in")
        try fixture.settle()
        #expect(fixture.events.filter { $0.hasPrefix("idle") && $0.hasSuffix("end") } == ["idle 0 end"])
        #expect(listener.ungatedCount == 7)
        withExtendedLifetime(idle) {}
    }

    @Test func `a valid connection passes while the table is full`() throws {
        var limits = TransportLimits()
        limits.maxUngatedPerSource = .max
        let listener = try fixture.listen(limits)
        fixture.onConnection = { [fixture] _ in fixture.note("let in") }
        let address = try #require(listener.localAddress)
        var idle: [RawClient] = []
        for number in 0..<128 {
            let client = try RawClient.connect("idle \(number)", to: address, fixture)
            client.stream.write([UInt8](repeating: 0, count: number % 37))
            idle.append(client)
        }
        try fixture.settle()
        #expect(listener.ungatedCount == 128)
        let good = try RawClient.connect("good", to: address, fixture)
        good.stream.write(try fixture.greeting().bytes)
        try fixture.run(until: "idle 0 end", "let in")
        try fixture.settle()
        #expect(fixture.events.filter { $0.hasPrefix("idle") && $0.hasSuffix("end") } == ["idle 0 end"])
        #expect(listener.ungatedCount == 127)
        withExtendedLifetime(idle) {}
    }

    @Test func `closing ends all connections that have not passed`() throws {
        let client = try RawClient.connect(to: address, fixture)
        try fixture.settle()
        listener.close()
        try fixture.run(until: "raw end")
        #expect(client.received.isEmpty)
    }

    @Test func `a connection that is not retained is closed`() throws {
        let client = try RawClient.connect(to: address, fixture)
        client.stream.write(try fixture.greeting().bytes)
        try fixture.run(until: "let in", "raw end")
    }
}
