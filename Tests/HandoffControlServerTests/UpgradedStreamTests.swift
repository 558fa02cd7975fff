import HandoffControl
import HandoffControlServer
import HandoffJSON
import LoopIO
import Testing

private let export = VarlinkCall(method: ControlMethod.exportAccount.rawValue, upgrade: true)
private let status = VarlinkCall(method: ControlMethod.getStatus.rawValue)

struct UpgradedStreamTests {
    /// A client whose call was upgraded, and the daemon's stream.
    private func upgraded(_ fixture: ControlFixture) throws -> (ControlTestClient, UpgradedStream) {
        let client = try fixture.connect()
        try client.call(export)
        #expect(fixture.calls.last?.wantsUpgrade == true)
        let stream = try #require(fixture.calls.last?.upgrade(["x": 1]))
        #expect(try client.replies() == [VarlinkReply(parameters: ["x": 1])])
        return (client, stream)
    }

    @Test func `bytes go both ways`() throws {
        let fixture = try ControlFixture()
        let (client, stream) = try upgraded(fixture)
        var received: [UInt8] = []
        var ended = 0
        stream.onBytes = { received += $0 }
        stream.onEnd = { ended += 1 }
        try client.send([1, 0, 2])
        #expect(received == [1, 0, 2])
        stream.write([3, 0, 4])
        #expect(try client.receive() == [3, 0, 4])
        try client.halfClose()
        #expect(ended == 1)
        #expect(stream.isOpen)
        stream.write([5])
        stream.end()
        #expect(!stream.isOpen)
        #expect(try client.receive() == [5])
        #expect(client.hasEnded)
    }

    @Test func `bytes wait until somebody takes them`() throws {
        let fixture = try ControlFixture()
        let (client, stream) = try upgraded(fixture)
        try client.send([1, 2])
        try fixture.turn()
        var received: [UInt8] = []
        stream.onBytes = { received += $0 }
        try fixture.turn()
        #expect(received == [1, 2])
        stream.onBytes = nil
        try client.send([3])
        #expect(received == [1, 2])
        stream.onBytes = { received += $0 }
        try fixture.turn()
        #expect(received == [1, 2, 3])
    }

    @Test func `an upgraded connection is not counted, and lives without an owner`() throws {
        var limits = ControlLimits()
        limits.connections = 1
        let fixture = try ControlFixture(limits: limits)
        let client = try fixture.connect()
        try client.call(export)
        fixture.calls[0].upgrade([:])?.write([7])
        #expect(fixture.server.connectionCount == 0)
        let other = try fixture.connect()
        try other.call(status)
        #expect(fixture.calls.count == 2)
        #expect(try client.receive() == VarlinkReply().encoded() + [7])
        #expect(!client.hasEnded)
        fixture.server.stop()
        _ = try client.receive()
        #expect(client.hasEnded)
    }

    @Test func `a handler that holds its stream is let go at the end`() throws {
        let fixture = try ControlFixture()
        weak var observed: UpgradedStream?
        let client: ControlTestClient
        do {
            let (connected, stream) = try upgraded(fixture)
            client = connected
            observed = stream
            stream.onBytes = { _ in _ = stream.isOpen }
            stream.onEnd = { stream.end() }
        }
        #expect(observed != nil)
        try client.close()
        try fixture.turn()
        #expect(observed == nil)
    }

    @Test func `a client that goes is told once, and ends the stream`() throws {
        let fixture = try ControlFixture()
        let (client, stream) = try upgraded(fixture)
        var lost = 0
        stream.onLost = { _ in lost += 1 }
        try client.close()
        stream.write([1])
        try fixture.turn()
        #expect(lost == 1)
        #expect(!stream.isOpen)
        stream.end()
        stream.close()
        #expect(lost == 1)
    }

    @Test func `a client that ended before the upgrade is told of`() throws {
        let fixture = try ControlFixture()
        let client = try fixture.connect()
        try client.call(export)
        try client.halfClose()
        let stream = try #require(fixture.calls[0].upgrade([:]))
        var ended = 0
        stream.onBytes = { _ in }
        stream.onEnd = { ended += 1 }
        #expect(ended == 0)
        try fixture.turn()
        #expect(ended == 1)
        stream.end()
        #expect(try client.replies() == [VarlinkReply()])
        #expect(client.hasEnded)
    }

    @Test func `bytes sent along with the call end the connection`() throws {
        let fixture = try ControlFixture()
        let client = try fixture.connect()
        try client.send(export.encoded() + [1])
        #expect(try client.receive().isEmpty)
        #expect(client.hasEnded)
        #expect(fixture.calls.isEmpty)
    }

    @Test func `bytes sent before the reply end the connection`() throws {
        let fixture = try ControlFixture()
        let client = try fixture.connect()
        try client.call(export)
        var closed = 0
        fixture.calls[0].onClosed = { closed += 1 }
        try client.send([1])
        #expect(closed == 1)
        #expect(fixture.calls[0].upgrade([:]) == nil)
        #expect(try client.receive().isEmpty)
        #expect(client.hasEnded)
    }

    @Test func `an upgrade that is refused leaves a connection for calls`() throws {
        let fixture = try ControlFixture()
        let client = try fixture.connect()
        try client.call(export)
        fixture.calls[0].fail("a.E")
        try client.call(status)
        fixture.calls[1].reply([:])
        #expect(try client.replies() == [VarlinkReply(error: "a.E"), VarlinkReply()])
    }

    @Test func `an upgrade inside the handler gives the stream at once`() throws {
        let fixture = try ControlFixture()
        var stream: UpgradedStream?
        fixture.serve = { call in
            stream = call.upgrade([:])
            stream?.write([9])
        }
        let client = try fixture.connect()
        try client.call(export)
        #expect(stream != nil)
        #expect(try client.receive() == VarlinkReply().encoded() + [9])
    }

    @Test func `much waiting is said, and drained again`() throws {
        let fixture = try ControlFixture()
        let (client, stream) = try upgraded(fixture)
        var drained = 0
        stream.onDrained = { drained += 1 }
        let chunk = [UInt8](repeating: 1, count: 100_000)
        var written = 0
        while stream.write(chunk) { written += 1 }
        #expect(drained == 0)
        #expect(try client.receive().count == (written + 1) * chunk.count)
        #expect(drained == 1)
    }
}
