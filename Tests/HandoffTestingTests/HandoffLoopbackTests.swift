import Dispatch
import Foundation
import HandoffKit
import HandoffTesting
import Testing

private let editing = "com.example.editing"

/// The events of an app, in order.
private final class Story: @unchecked Sendable {
    private let lock = NSLock()
    private var stored: [String] = []
    private var listeners: [AsyncStream<Void>.Continuation] = []

    var lines: [String] { lock.withLock { stored } }

    func add(_ line: String) {
        let waiting = lock.withLock {
            stored.append(line)
            return listeners
        }
        for listener in waiting { listener.yield() }
    }

    /// Waits for a line. The time limit of the test also ends this.
    func wait(for line: String) async throws {
        let (changes, listener) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        lock.withLock { listeners.append(listener) }
        listener.yield()
        for await _ in changes where lines.contains(line) { break }
        try #require(lines.contains(line), "\(lines)")
    }
}

/// An app that notes its calls, and advances by one page at each save.
private final class Notes: HandoffApplicationDelegate, HandoffActivityDelegate, @unchecked Sendable {
    let story = Story()
    var takes = true
    private var page = 1

    func application(
        _ application: HandoffApplication, willContinueUserActivityWithType userActivityType: String
    ) -> Bool {
        story.add("will")
        return true
    }

    func application(
        _ application: HandoffApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any UIUserActivityRestoring]?) -> Void
    ) -> Bool {
        story.add("continue \(userActivity.userInfo?["page"] as? Int ?? 0)")
        return takes
    }

    func application(
        _ application: HandoffApplication, didFailToContinueUserActivityWithType userActivityType: String,
        error: any Error
    ) {
        story.add("fail \((error as NSError).code) \(reason(of: error))")
    }

    func userActivityWillSave(_ userActivity: NSUserActivity) {
        page += 1
        userActivity.userInfo = ["page": page]
        story.add("save \(page)")
    }

    func userActivityWasContinued(_ userActivity: NSUserActivity) { story.add("continued") }

    func userActivity(
        _ userActivity: NSUserActivity, didReceive inputStream: InputStream, outputStream: OutputStream
    ) {
        guard let stream = HandoffByteStream(inputStream) else { return }
        // Sends received bytes back, twice.
        Task {
            for try await data in stream {
                try await stream.write(data)
                try await stream.write(data)
            }
            stream.finishWriting()
        }
    }
}

private func reason(of error: any Error) -> String {
    ((error as NSError).userInfo[NSUnderlyingErrorKey] as? HandoffError ?? error as? HandoffError)?.reason ?? "\(error)"
}

@Suite(.timeLimit(.minutes(1))) struct HandoffLoopbackTests {
    private let loopback: HandoffLoopback
    private let desk: LoopbackDevice
    private let laptop: LoopbackDevice
    private let queue = DispatchQueue(label: "loopback-tests")
    private let editor = Notes()
    private let reader = Notes()
    private let activity: NSUserActivity
    private let here: HandoffApplication
    private let there: HandoffApplication

    init() throws {
        loopback = try HandoffLoopback()
        desk = try loopback.device("Desk")
        laptop = try loopback.device("Laptop")
        here = desk.application("editor", version: "2.1", callbackQueue: queue)
        there = laptop.application("reader", activityTypes: [editing], callbackQueue: queue)
        activity = NSUserActivity(activityType: editing, application: here)
        activity.title = "Letter"
        activity.delegate = editor
        there.delegate = reader
    }

    private func expectFailure(_ wanted: String, _ body: () async throws -> Void) async {
        let error = await #expect(throws: HandoffError.self) { try await body() }
        #expect(error?.reason == wanted)
    }

    @Test func `an app continues the activity of another one`() async throws {
        activity.becomeCurrent()
        try await laptop.offer(of: editing)
        activity.needsSave = true
        // The change mark reaches the device asynchronously; the saved state is in the offer.
        try await editor.story.wait(for: "save 2")
        let continued = try await laptop.continue(editing)
        #expect(continued.title == "Letter")
        let page = try #require(continued.userInfo["page"] as? Int)
        try await editor.story.wait(for: "continued")
        #expect(editor.story.lines.last == "continued")
        #expect(reader.story.lines == ["will", "continue \(page)"])
    }

    @Test func `a test continues an app's activity, and hands one to the app`() async throws {
        activity.becomeCurrent()
        let taken = try await laptop.take(editing, from: "Desk")
        #expect(taken.activityType == editing)
        try await editor.story.wait(for: "continued")
        try await laptop.hand(LoopbackActivity(activityType: editing, userInfo: ["page": 7]))
        #expect(reader.story.lines == ["will", "continue 7"])
    }

    @Test func `a device offers an activity without an app`() async throws {
        try desk.publish(LoopbackActivity(activityType: editing, title: "Played", userInfo: ["page": 5]))
        #expect(laptop.offers.map(\.title) == ["Played"])
        try await laptop.continue(editing)
        desk.withdraw()
        #expect(laptop.offers.isEmpty)
        await expectFailure("nothingOffered") { try await laptop.offer(of: editing, within: .milliseconds(50)) }
    }

    @Test func `an app that refuses an activity receives no failure`() async throws {
        reader.takes = false
        activity.becomeCurrent()
        await expectFailure("handlerRefused") { try await laptop.continue(editing) }
        #expect(reader.story.lines.first == "will")
        #expect(!editor.story.lines.contains("continued"))
    }

    @Test func `no app continues an undeclared type, or a type of another team`() async throws {
        activity.becomeCurrent()
        let phone = try loopback.device("Phone")
        let app = phone.application(activityTypes: ["com.example.other"], callbackQueue: queue)
        app.delegate = reader
        try await phone.offer(of: editing)
        await expectFailure("noHandler") { try await phone.continue(editing, within: .milliseconds(100)) }
        var other = LoopbackActivity(activityType: "com.example.other")
        try await phone.hand(other)
        other.teamIdentifier = "ELSE"
        await expectFailure("noHandler") { [other] in try await phone.hand(other, within: .milliseconds(100)) }
    }

    @Test func `required keys and versions are checked`() async throws {
        activity.requiredUserInfoKeys = ["chapter"]
        activity.becomeCurrent()
        await expectFailure("requiredKeysMissing") { try await laptop.continue(editing) }
        try await reader.story.wait(for: "fail 4608 requiredKeysMissing")
        let phone = try loopback.device("Phone")
        let app = phone.application(callbackQueue: queue)
        app.configuration.versions = [editing: HandoffVersionRange(minimum: "3")]
        app.activityTypes = [editing]
        let late = Notes()
        app.delegate = late
        await expectFailure("otherVersion") { try await phone.continue(editing) }
        try await late.story.wait(for: "fail 4608 otherVersion")
    }

    @Test func `a requested failure occurs once`() async throws {
        try desk.publish(LoopbackActivity(activityType: editing, userInfo: ["page": 5]))
        desk.failNext(HandoffError(code: 4610, reason: "timedOut", message: "too slow"))
        await expectFailure("timedOut") { try await laptop.continue(editing) }
        try await laptop.continue(editing)
        try await reader.story.wait(for: "continue 5")
        #expect(reader.story.lines == ["will", "fail 4610 timedOut", "will", "continue 5"])
    }

    @Test func `a transfer fails when its device is disconnected`() async throws {
        try desk.publish(LoopbackActivity(activityType: editing))
        desk.delay = .seconds(60)
        let continued = Task { [laptop] in try await laptop.continue(editing) }
        try await reader.story.wait(for: "will")
        desk.cut()
        await expectFailure("peerUnreachable") { _ = try await continued.value }
        #expect(laptop.offers.isEmpty)
        try await reader.story.wait(for: "fail 4609 peerUnreachable")
        desk.mend()
        desk.delay = .milliseconds(10)
        try await laptop.continue(editing)
        #expect(reader.story.lines.suffix(2) == ["will", "continue 0"])
    }

    @Test func `the app's activity is published again after a restart of the daemon`() async throws {
        activity.becomeCurrent()
        try await laptop.offer(of: editing)
        desk.stop()
        #expect(laptop.offers.isEmpty)
        try desk.start()
        try await laptop.continue(editing)
    }

    @Test func `a daemon that ends during a continuation is a failure`() async throws {
        try desk.publish(LoopbackActivity(activityType: editing))
        desk.delay = .seconds(60)
        let continued = Task { [laptop] in try await laptop.continue(editing) }
        try await reader.story.wait(for: "will")
        laptop.stop()
        await expectFailure("handlerGone") { _ = try await continued.value }
        try await reader.story.wait(for: "fail 4609 daemonGone")
    }

    @Test func `an app's offer ends with the app`() async throws {
        do {
            let short = desk.application(callbackQueue: queue)
            let activity = NSUserActivity(activityType: "com.example.short", application: short)
            activity.becomeCurrent()
            try await laptop.offer(of: "com.example.short")
            activity.invalidate()
            short.stop()
        }
        while !laptop.offers.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
    }

    /// Returns the activity of one app, continued by the other one.
    private func continued() async throws -> NSUserActivity {
        activity.supportsContinuationStreams = true
        activity.becomeCurrent()
        var activities = there.continuations(of: editing).makeAsyncIterator()
        async let continued = laptop.continue(editing)
        let arrived = try #require(await activities.next())
        _ = try await continued
        return arrived
    }

    @Test(.timeLimit(.minutes(1))) func `streams connect the two apps, at the speed of the slower one`() async throws {
        let arrived = try await continued()
        let stream = try await arrived.continuationByteStream()
        let sent = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 251) })
        async let received = stream.reduce(into: 0) { $0 += $1.count }
        try await stream.write(sent)
        stream.finishWriting()
        #expect(try await received == 2 * sent.count)
        // Another stream, in Foundation's form.
        let (input, output) = try await arrived.continuationStreams()
        input.open()
        output.open()
        let text = Array("by stream".utf8)
        #expect(output.write(text, maxLength: text.count) == text.count)
        output.close()
        let answer = await Task.detached {
            var answer: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 64)
            while case let count = input.read(&buffer, maxLength: buffer.count), count > 0 {
                answer += buffer.prefix(count)
            }
            return String(decoding: answer, as: UTF8.self)
        }.value
        #expect(answer == "by streamby stream")
    }

    @Test(.timeLimit(.minutes(1))) func `streams of a disconnected device break, and none can be opened`()
        async throws
    {
        let arrived = try await continued()
        let stream = try await arrived.continuationByteStream()
        try await stream.write(Data("one".utf8))
        #expect(try await stream.read() != nil)
        desk.cut()
        // An app only observes an end, or an error if data was in transit.
        while let data = try? await stream.read() { #expect(!data.isEmpty) }
        let error = await #expect(throws: (any Error).self) { try await arrived.continuationStreams() }
        #expect((error as NSError?)?.code == 4609)
    }

    @Test(.timeLimit(.minutes(1))) func `a stream ends when the other app ends before accepting it`()
        async throws
    {
        let arrived = try await continued()
        // Without a delegate no stream is accepted.
        activity.delegate = nil
        let stream = try await arrived.continuationByteStream()
        try await stream.write(Data("one".utf8))
        here.stop()
        while let data = try? await stream.read() { #expect(data.isEmpty) }
    }

    @Test(.timeLimit(.minutes(1))) func `an app that has ended provides no stream`()
        async throws
    {
        let arrived = try await continued()
        here.stop()
        while !laptop.offers.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        let error = await #expect(throws: (any Error).self) { try await arrived.continuationStreams() }
        #expect(error.map(reason(of:)) == "ownerGone")
    }

    @Test func `streams of an activity without them are refused`() async throws {
        try desk.publish(LoopbackActivity(activityType: editing))
        var activities = there.continuations(of: editing).makeAsyncIterator()
        async let continued = laptop.continue(editing)
        let arrived = try #require(await activities.next())
        _ = try await continued
        await #expect(throws: (any Error).self) { try await arrived.continuationStreams() }
    }

    @Test func `a recording is replayed from its text`() async throws {
        try await laptop.hand(
            LoopbackActivity(
                activityType: editing, title: "Old", userInfo: ["page": 3, "ratio": 1.0, "raw": Data([1])]))
        try desk.publish(LoopbackActivity(activityType: editing, userInfo: ["page": 4]))
        try await laptop.continue(editing)
        let kept = loopback.recording.json
        #expect(kept.contains("1.0"))
        let recording = try LoopbackRecording(json: kept)
        #expect(recording.steps.map(\.from) == ["Partner", "Desk"])
        #expect(recording.steps.map(\.activity) == loopback.recording.steps.map(\.activity))
        let other = try HandoffLoopback()
        let app = try other.device("Laptop").application(activityTypes: [editing], callbackQueue: queue)
        let second = Notes()
        app.delegate = second
        try await other.replay(recording, speed: .infinity)
        #expect(second.story.lines == ["will", "continue 3", "will", "continue 4"])
        #expect(throws: LoopbackRecording.Unreadable.self) { try LoopbackRecording(json: "{") }
        #expect(throws: LoopbackRecording.Unreadable.self) { try LoopbackActivity(json: "[]") }
        #expect(throws: LoopbackRecording.Unreadable.self) { try LoopbackActivity(json: #"{"type": ""}"#) }
    }

    @Test func `an activity is unchanged after a round trip through text`() throws {
        let page = try #require(URL(string: "https://example.com/a"))
        let whole = LoopbackActivity(
            activityType: editing, title: "All", userInfo: ["page": 1, 2: "two"], webpageURL: page,
            requiredUserInfoKeys: ["page"], targetContentIdentifier: "letter/7", teamIdentifier: "TEAM")
        let read = try LoopbackActivity(json: whole.json)
        #expect(read == whole)
        #expect(read.userInfo["page"] as? Int == 1)
        #expect(read.webpageURL == page)
        #expect(read.requiredUserInfoKeys == ["page"])
        #expect(read.targetContentIdentifier == "letter/7")
        #expect(read.teamIdentifier == "TEAM")
    }

    @Test func `an activity that no device accepts is refused`() async throws {
        let large = LoopbackActivity(activityType: editing, userInfo: ["all": Data(count: 1 << 20)])
        #expect(throws: HandoffError.self) { try desk.publish(large) }
        await expectFailure("invalidActivity") { try await laptop.hand(large) }
    }

    @Test func `an app moves to a device`() async throws {
        let moved = HandoffApplication(
            configuration: HandoffApplication.Configuration(identifier: "moved", socketPath: "/nonexistent"),
            callbackQueue: queue)
        let activity = NSUserActivity(activityType: "com.example.moved", application: moved)
        activity.becomeCurrent()
        desk.attach(moved)
        try await laptop.offer(of: "com.example.moved")
    }
}
