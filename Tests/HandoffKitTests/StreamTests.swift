import Dispatch
import Foundation
import HandoffControl
import HandoffJSON
import HandoffKit
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

@Suite struct StreamTests {
    private let kit: KitTest
    private let application: HandoffApplication
    private let type: ActivityType

    init() throws {
        kit = try KitTest()
        application = kit.application(types: ["com.example.editing"])
        type = try #require(ActivityType("com.example.editing"))
    }

    /// The data received at the daemon's end of a stream, and the end itself. Used on the test's
    /// loop.
    private final class Far: @unchecked Sendable {
        var stream: ByteStream?
        var bytes: [UInt8] = []
    }

    /// Has the daemon turn `OpenStream` into a stream that starts with these bytes in the same
    /// segment as the reply.
    private func playStreams(first: String = "") -> Far {
        let far = Far()
        kit.onCall = { [kit] call in
            guard call.member == "OpenStream" else { return false }
            call.upgrade(
                ["stream": .string(Sample.stream.hex)],
                received: { bytes, _ in
                    far.bytes += bytes
                    kit.note("far \(far.bytes.count)")
                }, ended: { _ in kit.note("far end") })
            if !first.isEmpty { call.sendRaw(Array(first.utf8)) }
            far.stream = call.stream
            return true
        }
        return far
    }

    /// Continues an activity here, and returns it.
    private func continued(streams: Bool = true) throws -> NSUserActivity {
        let seen = Locked<NSUserActivity?>(nil)
        let delegate = NotingApplicationDelegate(kit) { activity, _ in
            seen.withLock { $0 = activity }
            return true
        }
        application.delegate = delegate
        try kit.run(until: "Attach")
        var content = Sample.continued(type: type, title: "Letter", userInfo: ["page": 1])
        content.streams = streams
        kit.event(.continue(Sample.continuation, content))
        try kit.run(until: "AnswerContinue true")
        withExtendedLifetime(delegate) {}
        return try #require(seen.withLock { $0 })
    }

    /// Both directions, unopened.
    private final class Pair: @unchecked Sendable {
        var input: InputStream?
        var output: OutputStream?
        var error: NSError?
    }

    private func open(_ activity: NSUserActivity) throws -> Pair {
        let pair = Pair()
        activity.getContinuationStreams { [kit] input, output, error in
            pair.input = input
            pair.output = output
            pair.error = error as NSError?
            kit.note("streams")
        }
        try kit.run(until: "streams")
        return pair
    }

    private func read(_ input: InputStream, _ count: Int) -> String {
        var buffer = [UInt8](repeating: 0, count: count)
        let result = input.read(&buffer, maxLength: count)
        return result < 0 ? "failed" : String(decoding: buffer[..<result], as: UTF8.self)
    }

    @Test func `the continuing app receives unopened streams`() throws {
        let far = playStreams(first: "hello")
        let pair = try open(try continued())
        let input = try #require(pair.input)
        let output = try #require(pair.output)
        #expect(kit.daemon?.parameters(of: "OpenStream")?["continuation"] == .string(Sample.continuation.hex))
        #expect(input.streamStatus == .notOpen && output.streamStatus == .notOpen)
        #expect(read(input, 5) == "failed" && !input.hasBytesAvailable && !output.hasSpaceAvailable)
        input.open()
        output.open()
        #expect(input.streamStatus == .open && output.streamStatus == .open)
        // Bytes that arrived with the reply are not lost, in pieces of any size.
        #expect(input.hasBytesAvailable)
        #expect(read(input, 2) == "he")
        #expect(read(input, 10) == "llo")
        #expect(output.hasSpaceAvailable)
        #expect(output.write(Array("answer".utf8), maxLength: 6) == 6)
        try kit.run(until: "far 6")
        #expect(far.bytes == Array("answer".utf8))
    }

    @Test func `each direction ends separately`() throws {
        let far = playStreams()
        let pair = try open(try continued())
        let input = try #require(pair.input)
        let output = try #require(pair.output)
        input.open()
        output.open()
        output.close()
        try kit.run(until: "far end")
        #expect(output.streamStatus == .closed)
        #expect(output.write([1], maxLength: 1) == -1)
        far.stream?.write(Array("still here".utf8))
        #expect(read(input, 100) == "still here")
        far.stream?.shutdownWrite()
        #expect(read(input, 100) == "")
        #expect(input.streamStatus == .atEnd)
        #expect(read(input, 100) == "")
        input.close()
        #expect(input.streamStatus == .closed)
    }

    @Test func `closing both ends the connection`() throws {
        let far = playStreams()
        let pair = try open(try continued())
        pair.input?.open()
        pair.output?.open()
        pair.input?.close()
        pair.output?.close()
        try kit.run(until: "far end")
        far.stream?.onError = { [kit] _ in kit.note("far error") }
        far.stream?.write([1])
        try kit.run(until: "far error")
    }

    @Test func `releasing both streams ends the connection`() throws {
        let far = playStreams()
        do {
            let pair = try open(try continued())
            pair.input?.open()
            pair.output?.open()
        }
        try kit.run(until: "far end")
        withExtendedLifetime(far) {}
    }

    @Test func `reading waits for bytes`() throws {
        let far = playStreams()
        let pair = try open(try continued())
        pair.input?.open()
        DispatchQueue(label: "reader").async { [kit] in
            var buffer = [UInt8](repeating: 0, count: 10)
            let count = pair.input?.read(&buffer, maxLength: 10) ?? 0
            kit.note("read \(count)")
        }
        far.stream?.write([1, 2, 3])
        try kit.run(until: "read 3")
    }

    @Test func `writing waits for space`() throws {
        let far = playStreams()
        let pair = try open(try continued())
        far.stream?.pauseReading()
        pair.output?.open()
        let total = 8 << 20
        DispatchQueue(label: "writer").async { [kit] in
            let data = [UInt8](repeating: 7, count: total)
            var sent = 0
            while sent < total, let output = pair.output {
                let count = data[sent...].withUnsafeBufferPointer { bytes in
                    bytes.baseAddress.map { output.write($0, maxLength: bytes.count) } ?? -1
                }
                guard count > 0 else { break }
                sent += count
                if pair.output?.hasSpaceAvailable == false { kit.note("full") }
            }
            kit.note("sent \(sent)")
        }
        try kit.run(until: "full")
        far.stream?.resumeReading()
        try kit.run { $0.contains("sent \(total)") && $0.contains("far \(total)") }
    }

    @Test func `a broken connection is a failure of the writer`() throws {
        let far = playStreams()
        let pair = try open(try continued())
        let output = try #require(pair.output)
        output.open()
        far.stream?.close()
        // The kernel may accept one more write.
        var result = 0
        for _ in 0..<3 where result >= 0 { result = output.write([1], maxLength: 1) }
        #expect(result == -1)
        #expect(output.streamStatus == .error)
        #expect((output.streamError as NSError?)?.domain == NSPOSIXErrorDomain)
    }

    // MARK: Run loops

    private final class Watcher: NSObject, StreamDelegate, @unchecked Sendable {
        let kit: KitTest
        let name: String

        init(_ kit: KitTest, _ name: String) {
            self.kit = kit
            self.name = name
        }

        func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
            switch eventCode {
            case .openCompleted: kit.note("\(name) opened")
            case .hasSpaceAvailable: kit.note("\(name) space")
            case .hasBytesAvailable:
                var buffer = [UInt8](repeating: 0, count: 3)
                let count = (aStream as? InputStream)?.read(&buffer, maxLength: 3) ?? -1
                kit.note("\(name) bytes \(count)")
            case .endEncountered:
                kit.note("\(name) end")
                aStream.close()
            case .errorOccurred: kit.note("\(name) error")
            default: kit.note("\(name) ?")
            }
        }
    }

    @Test func `events are delivered on the run loop`() throws {
        let far = playStreams(first: "hello")
        let pair = try open(try continued())
        let watchers = [Watcher(kit, "in"), Watcher(kit, "out")]
        let isOver = Locked(false)
        Thread.detachNewThread { [kit] in
            guard let input = pair.input, let output = pair.output else { return }
            for (stream, watcher) in zip([input, output] as [Stream], watchers) {
                stream.delegate = watcher
                stream.schedule(in: .current, forMode: .default)
                stream.open()
            }
            while !isOver.withLock({ $0 }) {
                _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 5))
            }
            kit.note("run loop over")
        }
        try kit.run { $0.contains("in bytes 2") && $0.contains("out space") }
        far.stream?.write(Array("more".utf8))
        try kit.run(until: "in bytes 1")
        far.stream?.shutdownWrite()
        try kit.run(until: "in end")
        isOver.withLock { $0 = true }
        #expect(
            kit.story.filter { $0.hasPrefix("in ") } == [
                "in opened", "in bytes 3", "in bytes 2", "in bytes 3", "in bytes 1", "in end",
            ])
        #expect(kit.story.filter { $0.hasPrefix("out ") } == ["out opened", "out space"])
    }

    // MARK: The origin

    @Test func `the origin receives the stream`() throws {
        _ = playStreams(first: "hi")
        let activity = NSUserActivity(activityType: "com.example.editing", application: application)
        activity.supportsContinuationStreams = true
        let delegate = NotingDelegate(kit)
        let pair = Pair()
        delegate.received = { input, output in
            pair.input = input
            pair.output = output
        }
        activity.delegate = delegate
        activity.becomeCurrent()
        try kit.run(until: "BecomeCurrent")
        kit.event(.stream(kit.lastID, Sample.stream, from: Sample.origin))
        try kit.run(until: "didReceive")
        #expect(kit.daemon?.parameters(of: "OpenStream")?["stream"] == .string(Sample.stream.hex))
        let input = try #require(pair.input)
        #expect(input.streamStatus == .notOpen)
        input.open()
        #expect(read(input, 10) == "hi")
    }

    /// A delegate like that of an app in Swift 6: it is isolated to the main actor.
    @MainActor private final class MainDelegate: NSUserActivityDelegate {
        let kit: KitTest

        init(_ kit: KitTest) { self.kit = kit }

        func userActivityWillSave(_ userActivity: NSUserActivity) { kit.note("main willSave") }

        func userActivity(
            _ userActivity: NSUserActivity, didReceive inputStream: InputStream, outputStream: OutputStream
        ) {
            kit.note("main didReceive")
        }
    }

    @MainActor @Test func aDelegateOfTheMainActorIsCalledThere() async throws {
        _ = playStreams()
        let application = kit.application(callbackQueue: .main)
        let activity = NSUserActivity(activityType: "com.example.editing", application: application)
        let delegate = MainDelegate(kit)
        activity.supportsContinuationStreams = true
        activity.delegate = delegate
        activity.becomeCurrent()
        try await aside { [kit] in
            try kit.run { $0.contains("BecomeCurrent") && $0.contains("main willSave") }
            kit.event(.stream(kit.lastID, Sample.stream, from: Sample.origin))
            try kit.run(until: "main didReceive")
        }
        withExtendedLifetime(delegate) {}
    }

    @Test func `a scheduled stream keeps its run loop waiting`() async throws {
        let socket = try continued()
        _ = playStreams()
        let pair = try open(socket)
        try await aside {
            #expect(!RunLoop.current.run(mode: .default, before: .distantPast))
            pair.input?.schedule(in: .current, forMode: .default)
            #expect(RunLoop.current.run(mode: .default, before: .distantPast))
            pair.input?.close()
            #expect(!RunLoop.current.run(mode: .default, before: .distantPast))
        }
    }

    // MARK: Failures

    @Test func `streams of an activity without them are refused immediately`() throws {
        let pair = try open(try continued(streams: false))
        #expect(pair.input == nil && pair.output == nil)
        #expect(pair.error?.domain == NSCocoaErrorDomain && pair.error?.code == 3328)
        #expect(pair.error?.localizedDescription == "the activity on laptop has no continuation streams")
        #expect(!kit.story.contains("OpenStream"))
    }

    @Test func `the daemon's failure is passed on`() throws {
        kit.onCall = { call in
            guard call.member == "OpenStream" else { return false }
            call.fail(
                "dev.handoff1.StreamFailed",
                ["code": 4609, "reason": "peerUnreachable", "message": "cannot reach laptop: no route"])
            return true
        }
        let pair = try open(try continued())
        #expect(pair.error?.code == 4609)
        #expect(pair.error?.localizedDescription == "cannot reach laptop: no route")
        #expect((pair.error?.userInfo[NSUnderlyingErrorKey] as? HandoffError)?.reason == "peerUnreachable")
    }

    // MARK: Asynchronous

    /// Runs asynchronous code while the loop runs, on a thread that no task needs.
    private func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
        Task { [kit] in
            do {
                try await body()
            } catch {
                Issue.record(error)
            }
            kit.note("task over")
        }
        try await aside { [kit] in try kit.run(until: "task over") }
    }

    @Test func `a byte stream is read and written asynchronously`() async throws {
        let far = playStreams(first: "one")
        let activity = try continued()
        try await run { [kit] in
            let stream = try await activity.continuationByteStream()
            try await stream.write(Data("hello".utf8))
            stream.finishWriting()
            var text = ""
            for try await data in stream {
                text += String(decoding: data, as: UTF8.self)
                if text == "one" {
                    kit.test.loop.perform {
                        far.stream?.write(Array(" two".utf8))
                        far.stream?.shutdownWrite()
                    }
                }
            }
            #expect(text == "one two")
        }
        try kit.run(until: "far end")
        #expect(far.bytes == Array("hello".utf8))
    }

    @Test func `Foundation's streams are also returned asynchronously`() async throws {
        _ = playStreams(first: "one")
        let activity = try continued()
        try await run {
            let (input, output) = try await activity.continuationStreams()
            #expect(input.streamStatus == .notOpen && output.streamStatus == .notOpen)
            let stream = try #require(HandoffByteStream(input))
            #expect(try await stream.read() == Data("one".utf8))
        }
    }

    @Test func `a waiting task can be cancelled`() async throws {
        let far = playStreams()
        let activity = try continued()
        try await run {
            let stream = try await activity.continuationByteStream()
            let reader = Task { try await stream.read() }
            reader.cancel()
            await #expect(throws: CancellationError.self) { try await reader.value }
            // The stream itself continues to work.
            stream.close()
            #expect(try await stream.read() == nil)
        }
        withExtendedLifetime(far) {}
    }

    // The address sanitizer keeps freed memory, to find its uses; the thread sanitizer does not.
    @Test(.disabled(if: dlsym(nil, "__asan_init") != nil, "the address sanitizer keeps freed memory"))
    func `cancelled reads leave no memory behind`() async throws {
        let far = playStreams()
        let activity = try continued()
        try await run {
            let stream = try await activity.continuationByteStream()
            var pages: [Int] = []
            for number in 0...31_000 {
                if [1000, 16_000, 31_000].contains(number) { pages.append(try Self.residentPages()) }
                let reader = Task { try await stream.read() }
                reader.cancel()
                await #expect(throws: CancellationError.self) { try await reader.value }
            }
            // The thread sanitizer's own memory grows once, and not in proportion to the reads.
            let grown = min(pages[1] - pages[0], pages[2] - pages[1])
            #expect(grown < 375, "15,000 reads keep \(grown) pages")
            stream.close()
        }
        withExtendedLifetime(far) {}
    }

    /// Returns the number of resident memory pages of this process.
    private static func residentPages() throws -> Int {
        let numbers = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return try #require(numbers.dropFirst().first.flatMap { Int($0) })
    }
}
