import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

@Suite struct AppAttachmentTests {
    private let test: LoopTest
    private let path: String

    init() throws {
        test = try LoopTest()
        path = test.folder.file("control.socket")
    }

    private func attachment() -> AppAttachment {
        AppAttachment(path: path, loop: test.loop, app: AttachRequest(app: "test"))
    }

    /// Returns a daemon that attaches every app in a session with this name.
    private func daemon(session: String) throws -> FakeDaemon {
        let daemon = try FakeDaemon(path: path, loop: test.loop)
        daemon.onCall = { call in
            if call.member == "Attach" { call.reply(AppEvent.attached(session: session).json, continues: true) }
        }
        return daemon
    }

    @Test func `a daemon that is not running at the start is a failure`() throws {
        var failure: ClientError?
        attachment().start { report in
            if case .failed(let error) = report { failure = error }
        }
        #expect(failure == .notReachable(path: path, reason: "no such file or directory"))
    }

    @Test func `a daemon that refuses is a failure`() throws {
        let daemon = try FakeDaemon(path: path, loop: test.loop)
        daemon.onCall = { $0.fail("dev.handoff1.LimitExceeded", ["limit": "apps", "message": "too many apps"]) }
        let attachment = attachment()
        var failure: ClientError?
        attachment.start { report in
            if case .failed(let error) = report { failure = error }
            test.end()
        }
        try test.run()
        guard case .refused(let refusal) = failure else {
            Issue.record("no refusal: \(String(describing: failure))")
            return
        }
        #expect(refusal.kind == "LimitExceeded")
    }

    @Test func `it is attached again after a restart of the daemon`() throws {
        var first: FakeDaemon? = try daemon(session: "first")
        var second: FakeDaemon?
        let attachment = attachment()
        var story: [String] = []
        attachment.start { report in
            switch report {
            case .attached(let session):
                story.append(session.id)
                if session.id == "first" {
                    first?.stop()
                    first = nil
                } else {
                    test.end()
                }
            case .lost:
                story.append("lost")
                // Restarted only after the first attempts have failed.
                second = try? daemon(session: "second")
            case .event, .notDeclared, .failed:
                story.append("unexpected")
                test.end()
            }
        }
        try test.run()
        #expect(story == ["first", "lost", "second"])
        #expect(second != nil)
    }

    @Test func `types that change before the reply are declared after it`() throws {
        let daemon = try daemon(session: "s")
        let attachment = attachment()
        let type = try #require(ActivityType("com.example.editing"))
        attachment.start { _ in }
        attachment.declare(AttachRequest(app: "test", types: [type]))
        let answer = daemon.onCall
        daemon.onCall = { call in
            answer(call)
            if call.member == "Declare" { test.end() }
        }
        try test.run()
        #expect(daemon.methods == ["Attach", "Declare"])
        #expect(daemon.parameters(of: "Attach")?["types"] == .array([]))
        #expect(daemon.parameters(of: "Declare") == ["session": "s", "types": ["com.example.editing"]])
    }

    @Test func `types are declared in the session and attached in the next`() throws {
        var first: FakeDaemon? = try daemon(session: "first")
        var second: FakeDaemon?
        let attachment = attachment()
        let type = try #require(ActivityType("com.example.editing"))
        var sessions: [String] = []
        let answer = try #require(first).onCall
        first?.onCall = { call in
            answer(call)
            guard call.member == "Declare" else { return }
            first?.stop()
            first = nil
        }
        attachment.start { report in
            switch report {
            case .attached(let session):
                sessions.append(session.id)
                if session.id == "first" {
                    attachment.declare(AttachRequest(app: "test", types: [type]))
                } else {
                    test.end()
                }
            case .lost: second = try? daemon(session: "second")
            case .event, .notDeclared, .failed:
                sessions.append("unexpected")
                test.end()
            }
        }
        try test.run()
        #expect(sessions == ["first", "second"])
        #expect(second?.parameters(of: "Attach")?["types"] == .array(["com.example.editing"]))
        #expect(second?.methods == ["Attach"])
    }

    @Test func `an attachment that ends immediately is retried less and less often`() throws {
        let clock = ManualClock()
        let test = try LoopTest(clock: clock)
        let path = test.folder.file("control.socket")
        let daemon = try FakeDaemon(path: path, loop: test.loop)
        var attached: FakeDaemon.Call?
        daemon.onCall = { call in
            call.reply(AppEvent.attached(session: "s").json, continues: true)
            attached = call
        }
        let attachment = AppAttachment(path: path, loop: test.loop, app: AttachRequest(app: "test"))
        var count = 0
        attachment.start { report in
            if case .attached = report { count += 1 }
        }
        func expect(_ wanted: Int) throws {
            for _ in 0..<100 where count < wanted { try test.loop.runTurns(20) }
            #expect(count == wanted)
        }
        func lose(thenWait delay: Duration) throws {
            attached?.crash()
            try test.loop.runTurns(20)
            let before = count
            clock.advance(by: delay - .milliseconds(1))
            try test.loop.runTurns(20)
            #expect(count == before)
            clock.advance(by: .milliseconds(1))
            try expect(before + 1)
        }
        try expect(1)
        for delay in [100, 200, 400, 800, 1600, 3200, 60_000, 60_000] { try lose(thenWait: .milliseconds(delay)) }
        // After a long attachment, the delays start over.
        clock.advance(by: .seconds(5))
        try lose(thenWait: .milliseconds(100))
        attachment.stop()
    }

    @Test func `events arrive after the session`() throws {
        let daemon = try FakeDaemon(path: path, loop: test.loop)
        let activity = Sample.activityID(0xA1)
        daemon.onCall = { call in
            call.reply(AppEvent.attached(session: "s").json, continues: true)
            call.reply(AppEvent.save(activity).json, continues: true)
        }
        let attachment = attachment()
        var events: [AppEvent] = []
        attachment.start { report in
            if case .event(let event) = report {
                events.append(event)
                test.end()
            }
        }
        try test.run()
        #expect(events == [.save(activity)])
    }

    @Test func `events and fields of a newer daemon are skipped`() throws {
        let daemon = try FakeDaemon(path: path, loop: test.loop)
        let activity = Sample.activityID(0xA1)
        daemon.onCall = { call in
            call.reply(["event": "welcome", "text": "hello"], continues: true)
            call.reply(["event": "attached", "session": "s", "mood": "good"], continues: true)
            call.reply(["event": "thought", "activity": .string(activity.hex)], continues: true)
            call.reply(AppEvent.save(activity).json, continues: true)
        }
        let attachment = attachment()
        var reports: [String] = []
        attachment.start { report in
            switch report {
            case .attached(let session): reports.append("attached \(session.id)")
            case .event(let event):
                reports.append("\(event == .save(activity))")
                test.end()
            case .lost, .notDeclared, .failed:
                reports.append("\(report)")
                test.end()
            }
        }
        try test.run()
        #expect(reports == ["attached s", "true"])
    }

    @Test func `events of an activity are reported after the reply that names it`() throws {
        let daemon = try FakeDaemon(path: path, loop: test.loop)
        let id = Sample.activityID(0xA1)
        var attached: FakeDaemon.Call?
        /// Replies after some turns of the loop. The client uses the same loop, so it has received
        /// the event by then.
        func answer(_ call: FakeDaemon.Call, after turns: Int) {
            guard turns > 0 else { return call.reply(AppEvent.published(id, advice: nil).json) }
            test.loop.later { answer(call, after: turns - 1) }
        }
        daemon.onCall = { call in
            switch call.member {
            case "Attach":
                attached = call
                call.reply(AppEvent.attached(session: "s").json, continues: true)
            default:
                attached?.reply(AppEvent.save(id).json, continues: true)
                answer(call, after: 5)
            }
        }
        let attachment = attachment()
        var story: [String] = []
        attachment.start { report in
            switch report {
            case .attached:
                attachment.publish(ActivityDescription(type: "com.example.editing")) { result in
                    story.append((try? result.get().id) == id ? "published" : "failed")
                }
            case .event(.save(id, _)):
                story.append("save")
                test.end()
            default: break
            }
        }
        try test.run()
        #expect(story == ["published", "save"])
    }

    @Test func `events wait only for earlier calls`() {
        let events = (1...3).map { AppEvent.save(Sample.activityID(UInt8($0))) }
        var order = EventOrder()
        #expect(order.receive(events[0]) == events[0])
        order.publishSent()
        #expect(order.receive(events[0]) == nil)
        order.publishSent()
        #expect(order.receive(events[1]) == nil && order.receive(events[2]) == nil)
        #expect(order.isAnswered() == [events[0]])
        #expect(order.receive(events[0]) == nil)
        #expect(order.isAnswered() == [events[1], events[2], events[0]])
        #expect(order.receive(events[1]) == events[1])
    }

    @Test func `stopping ends both connections and is silent`() throws {
        let daemon = try daemon(session: "s")
        let attachment = attachment()
        var reports = 0
        attachment.start { _ in
            reports += 1
            attachment.stop()
            daemon.stop()
            test.end()
        }
        try test.run()
        #expect(reports == 1)
    }
}
