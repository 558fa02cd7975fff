import Glibc
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

/// Continuation streams between whole daemons.
@Suite final class StreamTests {
    private let fleet: Fleet
    private let desk: TestDevice
    private let couch: TestDevice

    init() throws {
        fleet = try Fleet()
        let devices = try fleet.account("desk", "couch")
        (desk, couch) = (devices[0], devices[1])
    }

    deinit {
        fleet.end()
    }

    // MARK: - Helpers

    private func publish(hasStreams: Bool = true) throws -> Publisher {
        var activity = Note.activity("streams")
        activity.supportsContinuationStreams = hasStreams
        return try desk.publish(activity)
    }

    /// Returns the stream that the next event offers, and skips other events.
    private func offered(_ publisher: Publisher) throws -> StreamID {
        while true {
            switch try publisher.next() {
            case .stream(publisher.activity, let id, let origin, _):
                #expect(origin.deviceName == "couch")
                return id
            case .continued, .saved: continue
            case let event: throw UnexpectedEvent(event)
            }
        }
    }

    /// Opens a stream, and returns its ends at the origin and at the continuing device.
    private func open(_ publisher: Publisher, _ continuation: ContinuationID) throws -> (TestStream, TestStream) {
        let call = try couch.openStream(.continuation(continuation))
        let id = try offered(publisher)
        let origin = try desk.stream(desk.openStream(.stream(id)))
        #expect(origin.id == id)
        return (origin, try couch.stream(call))
    }

    /// Opens a stream while the account changes, when the origin may not accept it. An app that has
    /// already written is notified and opens another.
    private func openOrAgain(
        _ publisher: Publisher, _ continuation: ContinuationID
    ) throws -> (TestStream, TestStream) {
        while true {
            let other = try couch.stream(couch.openStream(.continuation(continuation)))
            other.call.stream.write([1])
            let end = try couch.awaitStream(other.id)
            var offer: StreamID?
            while offer == nil, end.waiting == 0 {
                try fleet.run("an offer or an end") { end.waiting > 0 || publisher.waiting > 0 }
                if publisher.waiting > 0, case .stream(_, let id, _, _) = try publisher.next() { offer = id }
            }
            if let offer {
                let origin = try desk.stream(desk.openStream(.stream(offer)))
                #expect(try origin.call.read(1) == [1])
                return (origin, other)
            }
            let reply = try AwaitStreamReply(json: end.result())
            #expect(reply.outcome == .gone)
            #expect(reply.message.contains("may not have accepted the stream"), "\(reply.message)")
            #expect(try other.call.rest() == [])
        }
    }

    @Test func `streams of an app stay while it declares types`() throws {
        let publisher = try publish()
        let viewer = try couch.attach("Viewer", types: Note.type)
        try fleet.poll("an offer") { try couch.offers().count == 1 }
        let call = try couch.continue()
        let continuation = try viewer.willContinue()
        _ = try viewer.content(continuation)
        try viewer.answer(continuation, handled: true)
        _ = try call.result()
        let (origin, other) = try open(publisher, continuation)
        try viewer.declare(Note.type, "com.example.other")
        other.call.stream.write([1, 2, 3])
        #expect(try origin.call.read(3) == [1, 2, 3])
        _ = try open(publisher, continuation)
    }

    @Test func `the app that accepts a stream is notified of its resource`() throws {
        let publisher = try publish()
        let continuation = try couch.take()
        let resource = try #require(StreamResource(String(repeating: "~", count: StreamResource.maxByteCount)))
        let call = try couch.openStream(.continuation(continuation, resource: resource))
        while true {
            let event = try publisher.next()
            guard case .stream(publisher.activity, let id, _, let told) = event else { continue }
            #expect(told == resource)
            _ = try desk.stream(desk.openStream(.stream(id)))
            break
        }
        _ = try couch.stream(call)
    }

    private func failure(_ call: OpenCall) throws -> HandoffFailure {
        let refusal = try call.refusal()
        try #require(refusal.name == AppErrorName.streamFailed.rawValue, "\(refusal)")
        return try HandoffFailure(json: refusal.parameters)
    }

    private func file(_ bytes: [UInt8] = []) throws -> (file: PassedFile, folder: ScratchFolder, path: String) {
        let folder = try ScratchFolder()
        let path = folder.file("file")
        let raw = Glibc.open(path, O_RDWR | O_CREAT, 0o600)
        #expect(write(raw, bytes, bytes.count) == bytes.count)
        #expect(lseek(raw, 0, SEEK_SET) == 0)
        return (PassedFile(Descriptor(owning: raw)), folder, path)
    }

    // MARK: - Opening

    @Test func `bytes flow both ways, and both sides learn the outcome`() throws {
        let publisher = try publish()
        let (origin, other) = try open(publisher, couch.take())
        let early = try couch.awaitStream(other.id)
        origin.call.stream.write([1, 2, 3])
        #expect(try other.call.read(3) == [1, 2, 3])
        other.call.stream.write([4, 5])
        #expect(try origin.call.read(2) == [4, 5])
        origin.call.stream.shutdownWrite()
        #expect(try other.call.rest() == [])
        #expect(early.waiting == 0)
        other.call.stream.shutdownWrite()
        #expect(try origin.call.rest() == [])
        let there = try AwaitStreamReply(json: early.result())
        #expect((there.outcome, there.sent, there.received) == (.ended, 2, 3))
        let here = try desk.outcome(of: origin.id)
        #expect((here.outcome, here.sent, here.received) == (.ended, 3, 2))
        fleet.pass(.seconds(61))
        #expect(try desk.outcome(of: origin.id).outcome == .ended, "also for a later request")
    }

    @Test func `many streams can be open at the same time`() throws {
        let publisher = try publish()
        let continuation = try couch.take()
        let calls = try (0..<30).map { _ in try couch.openStream(.continuation(continuation)) }
        let origins = try calls.map { _ in try desk.stream(desk.openStream(.stream(offered(publisher)))) }
        for (index, origin) in origins.enumerated() { origin.call.stream.write([UInt8(index)]) }
        let got = try calls.map { call in
            _ = try couch.stream(call)
            return try call.read(1)[0]
        }
        #expect(Set(got) == Set(0..<30))
    }

    @Test func `an app that has not continued cannot open a stream`() throws {
        _ = try publish()
        let id = try #require(ContinuationID(hex: String(repeating: "ab", count: 16)))
        let failure = try failure(couch.openStream(.continuation(id)))
        #expect((failure.code, failure.reason) == (3328, HandoffFailure.notContinued.reason))
        let stream = try #require(StreamID(hex: id.hex))
        let refusal = try desk.openStream(.stream(stream)).refusal()
        #expect(refusal.name == AppErrorName.noSuchStream.rawValue)
    }

    @Test func `an activity without streams supports none`() throws {
        _ = try publish(hasStreams: false)
        let failure = try failure(couch.openStream(.continuation(couch.take())))
        #expect((failure.code, failure.reason) == (3328, HandoffFailure.streamsUnsupported(device: "desk").reason))
    }

    @Test func `a stream needs an upgrade`() throws {
        _ = try publish()
        let call = try couch.openStream(.continuation(couch.take()), upgrade: false)
        #expect(try call.refusal().name == AppErrorName.expectedUpgrade.rawValue)
    }

    @Test func `a stream that no app accepts is refused after half a minute`() throws {
        let publisher = try publish()
        let begin = fleet.clock.now
        let other = try couch.stream(couch.openStream(.continuation(couch.take())))
        let id = try offered(publisher)
        let awaiting = try couch.awaitStream(other.id)
        try fleet.withClockStopped {
            fleet.pass(begin.advanced(by: .seconds(29)).duration(since: fleet.clock.now))
            _ = try desk.status()
            #expect(awaiting.waiting == 0)
        }
        fleet.pass(.seconds(30))
        #expect(try AwaitStreamReply(json: awaiting.result()).outcome == .refused)
        #expect(try desk.outcome(of: id).outcome == .refused)
        #expect(try desk.openStream(.stream(id)).refusal().name == AppErrorName.noSuchStream.rawValue)
        #expect(try other.call.rest() == [])
    }

    @Test func `a stream can be accepted once`() throws {
        let publisher = try publish()
        let (origin, _) = try open(publisher, couch.take())
        #expect(try desk.openStream(.stream(origin.id)).refusal().name == AppErrorName.noSuchStream.rawValue)
    }

    @Test func `the end of an app's session ends its right and not its streams`() throws {
        let publisher = try publish()
        let viewer = try couch.attach("Viewer", types: Note.type)
        try fleet.poll("an offer") { try couch.offers().count == 1 }
        _ = try couch.continue()
        let continuation = try viewer.willContinue()
        _ = try viewer.content(continuation)
        try viewer.answer(continuation, handled: true)
        let (origin, other) = try open(publisher, continuation)
        viewer.crash()
        try fleet.poll("the session ends") {
            let call = try couch.openStream(.continuation(continuation))
            // A stream that is still opened waits for the app at the origin.
            guard let reply = try? call.next() else { return false }
            return reply.error == AppErrorName.streamFailed.rawValue
        }
        origin.call.stream.write([7])
        #expect(try other.call.read(1) == [7])
    }

    @Test func `an offline origin is unreachable`() throws {
        let publisher = try publish()
        let continuation = try couch.take()
        try desk.vanish(unnoticedBy: couch)
        _ = publisher
        let failure = try failure(couch.openStream(.continuation(continuation)))
        #expect([4608, 4609, 4610].contains(failure.code), "\(failure)")
    }

    @Test func `a stream is opened while another device joins`() throws {
        let publisher = try publish()
        let continuation = try couch.take()
        let train = try fleet.device("train")
        try train.importAccount(try desk.exportAccount())
        let (origin, other) = try open(publisher, continuation)
        origin.call.stream.write([7])
        #expect(try other.call.read(1) == [7])
        try fleet.settle([desk, couch, train])
        other.call.stream.write([8])
        #expect(try origin.call.read(1) == [8])
    }

    @Test func `data written while another device joins arrives or is reported lost`() throws {
        let publisher = try publish()
        let continuation = try couch.take()
        let train = try fleet.device("train")
        try train.importAccount(try desk.exportAccount())
        let (origin, other) = try openOrAgain(publisher, continuation)
        origin.call.stream.write([7])
        #expect(try other.call.read(1) == [7])
    }

    @Test func `a stream that is not accepted and cannot be reopened is lost`() throws {
        let publisher = try publish()
        let continuation = try couch.take()
        let other = try couch.stream(couch.openStream(.continuation(continuation)))
        let end = try couch.awaitStream(other.id)
        try desk.vanish(unnoticedBy: couch)
        // If the ticket arrived before the daemon at the origin ended, that daemon has sent the
        // reason.
        #expect(try [.gone, .stopped].contains(AwaitStreamReply(json: end.result()).outcome))
        #expect(try other.call.rest() == [])
        withExtendedLifetime(publisher) {}
    }

    // MARK: - Outcomes

    @Test func `a closed app is reported to the other side`() throws {
        let publisher = try publish()
        let (origin, other) = try open(publisher, couch.take())
        other.call.close()
        #expect(try desk.outcome(of: origin.id).outcome == .reset)
        #expect(try couch.outcome(of: other.id).outcome == .cancelled)
        #expect(try origin.call.rest() == [])
    }

    @Test func `the streams of a removed device end immediately on both sides`() throws {
        let publisher = try publish()
        let (origin, other) = try open(publisher, couch.take())
        let there = try couch.awaitStream(other.id)
        _ = try desk.open(
            ControlMethod.removeDevice.rawValue, ["device": .string("couch"), "drop": .array([])], more: true)
        #expect(try desk.outcome(of: origin.id).outcome == .removed)
        #expect(try AwaitStreamReply(json: there.result()).outcome == .removed)
        #expect(try other.call.rest() == [])
    }

    @Test func `a daemon that stops ends its streams`() throws {
        let publisher = try publish()
        let continuation = try couch.take()
        let (origin, other) = try open(publisher, continuation)
        // A stream that no app has accepted, one that is awaited, and one that a file is passed to.
        let offered = try couch.openStream(.continuation(continuation))
        _ = try self.offered(publisher)
        let awaiting = try desk.awaitStream(origin.id)
        let passed = try file()
        _ = try desk.passFile(
            PassFileRequest(stream: origin.id, direction: .receive, position: 0, length: nil), passed.file)
        _ = try couch.stream(offered)
        let there = try couch.awaitStream(other.id)
        try desk.stop()
        #expect(try AwaitStreamReply(json: there.result()).outcome == .stopped)
        #expect(try origin.call.rest() == [])
        try couch.stop()
        withExtendedLifetime(awaiting) {}
    }

    @Test func `a daemon may stop while streams are being opened`() throws {
        let publisher = try publish()
        let continuation = try couch.take()
        let calls = try (0..<20).map { _ in try couch.openStream(.continuation(continuation)) }
        _ = try offered(publisher)
        try couch.stop()
        try desk.stop()
        for call in calls { try fleet.run("the connection ends") { call.hasEnded || call.waiting > 0 } }
    }

    // MARK: - Files

    @Test func `a file is passed into the stream and out of it`() throws {
        let publisher = try publish()
        let (origin, other) = try open(publisher, couch.take())
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let source = try file(bytes)
        let target = try file()
        let receiving = try couch.passFile(
            PassFileRequest(stream: other.id, direction: .receive, position: 2, length: bytes.count), target.file)
        #expect(try PassFileReply(json: receiving.result()) == PassFileReply(moved: 0, done: false))
        let sending = try desk.passFile(
            PassFileRequest(stream: origin.id, direction: .send, position: 2, length: nil), source.file)
        #expect(try PassFileReply(json: sending.result()) == PassFileReply(moved: 0, done: false))
        origin.call.stream.write([1, 2, 3])
        #expect(try other.call.read(3) == [1, 2, 3])
        for call in [sending, receiving] {
            var reply = try PassFileReply(json: call.result())
            while !reply.done { reply = try PassFileReply(json: call.result()) }
            #expect(reply.moved == bytes.count)
        }
        let raw = Glibc.open(target.path, O_RDONLY)
        defer { close(raw) }
        var content = [UInt8](repeating: 0, count: bytes.count + 1)
        #expect(read(raw, &content, content.count) == bytes.count)
        #expect(Array(content.dropLast()) == bytes)
    }

    @Test func `a call without a descriptor passes nothing`() throws {
        let publisher = try publish()
        // Both ends are kept, because an app that disconnects ends the stream.
        let (origin, other) = try open(publisher, couch.take())
        let request = PassFileRequest(stream: origin.id, direction: .send, position: 0, length: nil)
        #expect(try desk.passFile(request, nil).refusal().name == AppErrorName.invalidDescriptor.rawValue)
        let device = Glibc.open("/dev/null", O_RDWR)
        let call = try desk.passFile(request, PassedFile(Descriptor(owning: device)))
        #expect(try call.refusal().name == AppErrorName.invalidDescriptor.rawValue)
        let unknown = PassFileRequest(
            stream: try #require(StreamID(hex: String(repeating: "ab", count: 16))), direction: .send, position: 0,
            length: nil)
        #expect(try desk.passFile(unknown, file().file).refusal().name == AppErrorName.noSuchStream.rawValue)
        withExtendedLifetime((origin, other)) {}
    }

    @Test func `a position that has passed is refused`() throws {
        let publisher = try publish()
        let (origin, other) = try open(publisher, couch.take())
        origin.call.stream.write([1, 2, 3])
        #expect(try other.call.read(3) == [1, 2, 3])
        let refusal = try desk.passFile(
            PassFileRequest(stream: origin.id, direction: .send, position: 2, length: nil), file([1]).file
        ).refusal()
        #expect(refusal.name == AppErrorName.positionPassed.rawValue)
        #expect(refusal.parameters["position"] == .integer(3))
    }

    @Test func `the end of the stream ends the passing of a file`() throws {
        let publisher = try publish()
        let (origin, other) = try open(publisher, couch.take())
        let target = try file()
        let receiving = try couch.passFile(
            PassFileRequest(stream: other.id, direction: .receive, position: 0, length: nil), target.file)
        #expect(try PassFileReply(json: receiving.result()) == PassFileReply(moved: 0, done: false))
        // Its own direction is complete. That it did not wait for the other one is a different
        // matter.
        origin.call.close()
        #expect(try PassFileReply(json: receiving.result()) == PassFileReply(moved: 0, done: true))
        #expect(try couch.outcome(of: other.id).outcome == .reset)
    }

    @Test func `an app that passed a file and disconnects ends the stream`() throws {
        let publisher = try publish()
        let (origin, other) = try open(publisher, couch.take())
        let receiving = try couch.passFile(
            PassFileRequest(stream: other.id, direction: .receive, position: 0, length: nil), file().file)
        #expect(try PassFileReply(json: receiving.result()) == PassFileReply(moved: 0, done: false))
        receiving.close()
        #expect(try couch.outcome(of: other.id).outcome == .cancelled)
        #expect(try desk.outcome(of: origin.id).outcome == .reset)
    }
}
