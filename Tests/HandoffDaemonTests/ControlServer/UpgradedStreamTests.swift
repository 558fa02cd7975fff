import HandoffControl
import HandoffDaemon
import HandoffJSON
import LoopIO
import Testing

private let export = VarlinkCall(method: ControlMethod.exportAccount.rawValue, upgrade: true)
private let status = VarlinkCall(method: ControlMethod.getStatus.rawValue)

/// Records the events of a stream.
private final class Recorder: UpgradedStreamDelegate {
    var bytes: [UInt8] = []
    var ends = 0
    var losses = 0
    var flushes = 0

    func received(_ bytes: Span<UInt8>) {
        for index in bytes.indices { self.bytes.append(bytes[index]) }
    }

    func receivedEnd() { ends += 1 }

    func lost(_ error: Errno) { losses += 1 }

    func flushed() { flushes += 1 }
}

/// Retains its stream, and ends it when the client stops writing.
private final class Owner: UpgradedStreamDelegate {
    private let stream: UpgradedStream

    init(_ stream: UpgradedStream) { self.stream = stream }

    func received(_ bytes: Span<UInt8>) {}

    func receivedEnd() { stream.end() }

    func lost(_ error: Errno) {}

    func flushed() {}
}

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

    @Test func `bytes are sent in both directions`() throws {
        let fixture = try ControlFixture()
        let (client, stream) = try upgraded(fixture)
        let recorder = Recorder()
        stream.start(recorder)
        try client.send([1, 0, 2])
        #expect(recorder.bytes == [1, 0, 2])
        stream.write([3, 0, 4])
        #expect(try client.receive() == [3, 0, 4])
        try client.halfClose()
        #expect(recorder.ends == 1)
        #expect(stream.isOpen)
        stream.write([5])
        stream.end()
        #expect(!stream.isOpen)
        #expect(try client.receive() == [5])
        #expect(client.hasEnded)
    }

    @Test func `bytes wait until a delegate reads them`() throws {
        let fixture = try ControlFixture()
        let (client, stream) = try upgraded(fixture)
        try client.send([1, 2])
        try fixture.turn()
        let recorder = Recorder()
        stream.start(recorder)
        try fixture.turn()
        #expect(recorder.bytes == [1, 2])
        stream.stopReading()
        try client.send([3])
        try fixture.turn()
        #expect(recorder.bytes == [1, 2])
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

    @Test func `a delegate that retains its stream is released at the end`() throws {
        let fixture = try ControlFixture()
        weak var observed: UpgradedStream?
        let client: ControlTestClient
        do {
            let (connected, stream) = try upgraded(fixture)
            client = connected
            observed = stream
            stream.start(Owner(stream))
        }
        #expect(observed != nil)
        try client.close()
        try fixture.turn()
        #expect(observed == nil)
    }

    @Test func `a disconnected client is reported once and ends the stream`() throws {
        let fixture = try ControlFixture()
        let (client, stream) = try upgraded(fixture)
        let recorder = Recorder()
        stream.start(recorder)
        try client.close()
        stream.write([1])
        try fixture.turn()
        #expect(recorder.losses == 1)
        #expect(!stream.isOpen)
        stream.end()
        stream.close()
        #expect(recorder.losses == 1)
    }

    @Test func `a client that ended before the upgrade is reported`() throws {
        let fixture = try ControlFixture()
        let client = try fixture.connect()
        try client.call(export)
        try client.halfClose()
        let stream = try #require(fixture.calls[0].upgrade([:]))
        let recorder = Recorder()
        stream.start(recorder)
        #expect(recorder.ends == 0)
        try fixture.turn()
        #expect(recorder.ends == 1)
        stream.end()
        #expect(try client.replies() == [VarlinkReply()])
        #expect(client.hasEnded)
    }

    @Test func `bytes sent with the call end the connection`() throws {
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

    @Test func `a refused upgrade leaves a connection for calls`() throws {
        let fixture = try ControlFixture()
        let client = try fixture.connect()
        try client.call(export)
        fixture.calls[0].fail("a.E")
        try client.call(status)
        fixture.calls[1].reply([:])
        #expect(try client.replies() == [VarlinkReply(error: "a.E"), VarlinkReply()])
    }

    @Test func `an upgrade inside the handler returns the stream immediately`() throws {
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

    @Test func `sending all waiting bytes is reported`() throws {
        let fixture = try ControlFixture()
        let (client, stream) = try upgraded(fixture)
        let recorder = Recorder()
        stream.start(recorder)
        let chunk = [UInt8](repeating: 1, count: 100_000)
        var written = 0
        while stream.pendingBytes == 0 {
            stream.write(chunk)
            written += 1
        }
        #expect(recorder.flushes == 0)
        #expect(try client.receive().count == written * chunk.count)
        #expect(recorder.flushes == 1)
    }
}
