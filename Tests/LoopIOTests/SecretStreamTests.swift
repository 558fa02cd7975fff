import HandoffTestSupport
import LoopIO
import Testing

/// The delivery of secret bytes by a `ByteStream`.
@Suite(.timeLimit(.minutes(5))) struct SecretStreamTests {
    private let loop: EventLoop

    init() throws {
        loop = try EventLoop()
    }

    @Test func `secret bytes are lent in order and read only while there is a handler`() throws {
        let ends = try Ends.sockets()
        let sender = try ByteStream(ends.takeFirst(), on: loop)
        let receiver = try ByteStream(ends.takeSecond(), on: loop)
        var lent: [UInt8] = []
        var plain: [UInt8] = []
        receiver.onRead = { plain += $0 }
        receiver.onReadSecret = { bytes in
            for index in bytes.indices { lent.append(bytes[index]) }
            if lent.count == 3 { receiver.onReadSecret = nil }
        }
        receiver.onEnd = { [loop] in loop.stop() }
        sender.write([1, 2, 3])
        try loop.runTurns(3)
        #expect(lent == [1, 2, 3])
        sender.write([4])
        sender.shutdownWrite()
        try loop.runUntilStopped()
        #expect(lent == [1, 2, 3])
        #expect(plain == [4], "no earlier bytes are delivered again")
        sender.close()
        receiver.close()
    }

    @Test func `sending the last queued byte is reported`() throws {
        let ends = try Ends.sockets()
        let sender = try ByteStream(ends.takeFirst(), on: loop)
        let receiver = try ByteStream(ends.takeSecond(), on: loop)
        var flushed = 0
        sender.onFlushed = { [loop] in
            flushed += 1
            #expect(sender.pendingWriteBytes == 0)
            loop.stop()
        }
        sender.write([1])
        try loop.runTurns(2)
        #expect(flushed == 0, "nothing was queued")
        sender.write([UInt8](repeating: 7, count: 3_000_000))
        #expect(sender.pendingWriteBytes > 0)
        receiver.onRead = { _ in }
        try loop.runUntilStopped()
        #expect(flushed == 1)
        sender.close()
        receiver.close()
    }
}
