import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

@testable import HandoffClient

@Suite(.timeLimit(.minutes(5))) struct ContinuationStreamTests {
    private let test: LoopTest
    private let daemon: FakeDaemon

    init() throws {
        test = try LoopTest()
        daemon = try FakeDaemon(path: test.folder.file("control.socket"), loop: test.loop)
    }

    /// The results of `OpenStream`.
    private static let opened: JSONObject = ["stream": .string(Sample.stream.hex)]

    private func open(_ request: OpenStreamRequest = .stream(Sample.stream)) throws -> ContinuationStream {
        let client = try ControlClient(path: daemon.path, loop: test.loop)
        var opened: Result<ContinuationStream, ClientError>?
        client.openStream(request) { [test] result in
            opened = result
            test.end()
        }
        try test.run()
        return try #require(opened).get()
    }

    @Test func `bytes flow in both directions and each ends separately`() throws {
        var came: [UInt8] = []
        daemon.onCall = { call in
            call.upgrade(
                Self.opened,
                received: { bytes, stream in
                    came += bytes
                    if came.count == 3 {
                        stream.write([7, 8])
                        stream.shutdownWrite()
                    }
                },
                ended: { [test] stream in
                    stream.close()
                    test.end()
                })
        }
        let stream = try open(.continuation(Sample.continuation))
        #expect(stream.id == Sample.stream)
        #expect(daemon.log.first?.upgrade == true)
        #expect(daemon.parameters(of: "OpenStream") == ["continuation": .string(Sample.continuation.hex)])
        var received: [UInt8] = []
        stream.onRead = { received += $0 }
        stream.onEnd = {
            #expect(received == [7, 8])
            stream.write([4])
            stream.endWriting()
        }
        stream.write([1, 2, 3])
        try test.run()
        #expect(came == [1, 2, 3, 4])
    }

    @Test func `bytes that arrived with the reply are delivered first`() throws {
        daemon.onCall = { call in
            // A single write, so that they arrive together.
            let reply = VarlinkReply(parameters: Self.opened).encoded()
            call.sendRaw(reply + [1, 2, 3])
            call.sendRaw([4])
            call.finish()
        }
        let stream = try open()
        var events: [String] = []
        stream.pauseReading()
        stream.onRead = { events.append("\($0)") }
        stream.onEnd = { [test] in test.end() }
        test.loop.later {
            events.append("paused")
            stream.resumeReading()
        }
        try test.run()
        #expect(events.first == "paused")
        #expect(events.dropFirst().joined().filter(\.isNumber) == "1234")
    }

    @Test func `a writer is notified when there is space again`() throws {
        var received = 0
        var daemonEnd: ByteStream?
        daemon.onCall = { call in
            call.upgrade(
                Self.opened,
                received: { bytes, stream in
                    daemonEnd = stream
                    received += bytes.count
                    if received == 1 { stream.pauseReading() }
                }, ended: { [test] _ in test.end() })
        }
        let stream = try open()
        stream.write([1])
        try test.loop.runTurns(5)
        let piece = [UInt8](repeating: 2, count: 65_536)
        var written = 1
        repeat { written += piece.count } while stream.write(piece)
        var isDrained = false
        stream.onDrained = {
            isDrained = true
            stream.endWriting()
        }
        try test.loop.runTurns(5)
        #expect(!isDrained)
        daemonEnd?.resumeReading()
        try test.run()
        #expect(isDrained)
        #expect(received == written)
    }

    @Test func `finish sends everything and waits for the other side`() throws {
        var received = 0
        var daemonEnd: ByteStream?
        daemon.onCall = { call in
            call.upgrade(
                Self.opened, received: { bytes, _ in received += bytes.count },
                ended: { [test] stream in
                    daemonEnd = stream
                    test.end()
                })
        }
        do {
            let stream = try open()
            stream.onRead = { _ in Issue.record("read") }
            stream.write([UInt8](repeating: 1, count: 1_000_000))
            stream.finish()
        }
        try test.run()
        #expect(received == 1_000_000)
        // The daemon's end is still read: a closed one would break this write.
        daemonEnd?.onError = { _ in Issue.record("closed") }
        daemonEnd?.write([1])
        try test.loop.runTurns(3)
        daemonEnd?.write([1])
        try test.loop.runTurns(3)
        #expect(daemonEnd?.isOpen == true)
        daemonEnd?.close()
    }

    @Test func `a released stream is closed`() throws {
        daemon.onCall = { call in
            call.upgrade(Self.opened, received: { _, _ in }, ended: { [test] _ in test.end() })
        }
        do { _ = try open() }
        try test.run()
    }

    @Test func `a stream that cannot be opened reports the reason`() throws {
        let failure = HandoffFailure.streamsUnsupported(device: "laptop")
        daemon.onCall = { $0.fail(AppErrorName.streamFailed.rawValue, failure.json) }
        do {
            _ = try open()
            Issue.record("opened")
        } catch let ClientError.refused(refusal) {
            #expect(refusal.kind == "StreamFailed")
            #expect(refusal.parameters == failure.json)
        }
        daemon.onCall = { $0.upgrade([:], received: { _, _ in }, ended: { _ in }) }
        #expect(throws: ClientError.badAnswer("missing or invalid parameter 'stream'")) { try open() }
    }

    @Test func `a passed file is sent with its call on a separate connection`() throws {
        var passed: [PassedFile] = []
        daemon.onCall = { call in
            guard call.member == "PassFile" else {
                return call.upgrade(Self.opened, received: { _, _ in }, ended: { _ in })
            }
            passed = call.files
            #expect(call.more)
            call.reply(PassFileReply(moved: 4, done: false).json, continues: true)
            call.reply(PassFileReply(moved: 9, done: true).json)
        }
        let stream = try open()
        let file = try Descriptor.pipe()
        var replies: [PassFileReply] = []
        stream.passFile(.send, position: 5, length: 9, descriptor: file.first.raw) { [test] result in
            guard let reply = try? result.get() else { return test.end() }
            replies.append(reply)
            if reply.done { test.end() }
        }
        try test.run()
        #expect(replies == [PassFileReply(moved: 4, done: false), PassFileReply(moved: 9, done: true)])
        #expect(passed.count == 1)
        #expect(
            daemon.parameters(of: "PassFile") == [
                "stream": .string(Sample.stream.hex), "direction": "send", "position": 5, "length": 9,
            ])
    }

    @Test func `a passed file that fails is a refusal`() throws {
        let end = StreamEndedError(moved: 3, outcome: .gone, message: "the connection broke")
        daemon.onCall = { call in
            guard call.member == "PassFile" else {
                return call.upgrade(Self.opened, received: { _, _ in }, ended: { _ in })
            }
            call.fail(AppErrorName.streamEnded.rawValue, end.json)
        }
        let stream = try open()
        let file = try Descriptor.pipe()
        var failure: ClientError?
        stream.passFile(.receive, position: 0, length: nil, descriptor: file.second.raw) { [test] result in
            if case .failure(let error) = result { failure = error }
            test.end()
        }
        try test.run()
        #expect(failure == .refused(ServiceRefusal(name: "dev.handoff1.StreamEnded", parameters: end.json)))
    }

    @Test func `the end of a stream is awaited`() throws {
        let reply = AwaitStreamReply(outcome: .reset, message: "closed there", sent: 1, received: 2)
        daemon.onCall = { call in
            guard call.member == "AwaitStream" else {
                return call.upgrade(Self.opened, received: { _, _ in }, ended: { _ in })
            }
            call.reply(reply.json)
        }
        let stream = try open()
        var answer: Result<AwaitStreamReply, ClientError>?
        stream.awaitEnd { [test] result in
            answer = result
            test.end()
        }
        try test.run()
        #expect(answer == .success(reply))
        #expect(daemon.parameters(of: "AwaitStream") == Self.opened)
    }

    @Test func `a closed stream calls no handler`() throws {
        var open: FakeDaemon.Call?
        daemon.onCall = { call in
            if call.member == "AwaitStream" { open = call }
            if call.member == "OpenStream" { call.upgrade(Self.opened, received: { _, _ in }, ended: { _ in }) }
        }
        let stream = try self.open()
        stream.onRead = { _ in Issue.record("read") }
        stream.onEnd = { Issue.record("ended") }
        stream.awaitEnd { _ in Issue.record("answered") }
        try test.loop.runTurns(5)
        stream.close()
        open?.reply(AwaitStreamReply(outcome: .cancelled, message: "", sent: 0, received: 0).json)
        daemon.stop()
        try test.loop.runTurns(5)
    }
}
