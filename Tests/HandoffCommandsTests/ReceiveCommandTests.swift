import Glibc
import HandoffCommands
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

@testable import HandoffTransfer

/// Tests `continue --output` with a fake daemon and a fake sender.
@Suite(.timeLimit(.minutes(5))) struct ReceiveCommandTests {
    private let run: CommandRun
    private let type: ActivityType
    private let content = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

    init() throws {
        run = try CommandRun()
        type = try #require(ActivityType("com.example.editing"))
    }

    private func path(_ name: String) -> String { run.test.folder.file(name) }

    /// Returns a daemon that continues the activity and gives each stream to the next sender of the
    /// list.
    private func daemon(
        _ senders: [SimulatedSender], streams: Bool = true, outcome: StreamOutcome = .gone
    ) -> (FakeDaemon.Call) -> Void {
        var waiting = senders
        var sender: SimulatedSender?
        return { [type] call in
            switch call.member {
            case "ListActivities":
                var offer = Sample.offer(0xA1, type: type, title: "Draft")
                offer.streams = streams
                // Another device may offer anything under the same id.
                let other = OfferedActivity(
                    id: offer.id, type: type, title: "Draft", team: nil, device: Sample.device(0x66),
                    deviceName: "laptop", deviceKind: .laptop, streams: false, hasWebpageURL: false, age: 0,
                    opens: offer.opens)
                call.reply(["activities": [.object(other.json), .object(offer.json)]])
            case "Continue":
                var activity = Sample.continued(type: type, title: "Draft", userInfo: [:])
                activity.streams = streams
                let event = ContinueEvent.continued(type, activity, nil, continuation: Sample.continuation)
                call.reply(event.json)
            case "OpenStream":
                guard !waiting.isEmpty else { return call.fail("dev.handoff1.NoSuchStream", ["stream": ""]) }
                sender = waiting.removeFirst()
                sender?.open(call)
            case "PassFile": sender?.pass(call)
            case "AwaitStream":
                call.reply(AwaitStreamReply(outcome: outcome, message: "it was cut", sent: 0, received: 0).json)
            default: call.fail("org.varlink.service.MethodNotFound", ["method": .string(call.method)])
            }
        }
    }

    @Test
    func `a confined process can change nothing but its destination`() throws {
        let content = self.content
        // The kernel confines threads, so this thread is not used again after the test.
        let results = Locked<[String]>([])
        try OwnedThread(name: "confined") {
            func note(_ text: String) { results.withLock { $0.append(text) } }
            do {
                let tests = try ReceiveCommandTests()
                let sender = try SimulatedSender("draft.txt", content)
                mkdir(tests.path("in"), 0o700)
                let answer = tests.daemon([sender])
                let status = try tests.run.run(
                    ["continue", "--output", tests.path("in")], ownsProcess: true, answer: answer)
                note("\(status)")
                note("\(tests.run.test.folder.bytes(of: "in/draft.txt") == content)")
                let elsewhere = open(tests.path("elsewhere"), O_WRONLY | O_CREAT, 0o600)
                note(elsewhere < 0 ? "\(errno)" : "written")
            } catch {
                note("\(error)")
            }
        }.join()
        #expect(results.withLock { $0 } == ["done", "true", "\(EACCES)"])
    }

    @Test func `a file arrives`() throws {
        let sender = try SimulatedSender("draft.txt", content)
        let status = try run.run("continue", "--output", path("out.bin"), "--json", answer: daemon([sender]))
        #expect(status == .done)
        #expect(run.test.folder.bytes(of: "out.bin") == content)
        #expect(sender.succeeded)
        let offer = Sample.offer(0xA1, type: type, title: nil)
        #expect(
            run.daemon.parameters(of: "Continue") == [
                "activity": .string(offer.id.hex), "from": .string(offer.device.hex), "take": true,
            ])
        #expect(run.daemon.parameters(of: "OpenStream") == ["continuation": .string(Sample.continuation.hex)])
        let passed = try #require(run.daemon.parameters(of: "PassFile"))
        #expect(passed["direction"] == "receive")
        #expect(passed["length"] == .integer(Int64(content.count)))
        #expect(run.objects.map { $0["event"]?.string } == [nil, "stream", "received"])
        #expect(run.objects.first?["userInfo"] == .object([:]))
        #expect(run.objects[1]["name"] == "draft.txt")
        #expect(run.objects[1]["size"] == .integer(Int64(content.count)))
        #expect(
            run.objects[2] == [
                "version": 1, "event": "received", "path": .string(path("out.bin")),
                "bytes": .integer(Int64(content.count)),
            ])
        #expect(run.diagnostics.isEmpty)
    }

    @Test func `the size of a folder is that of its files`() throws {
        let entry = TarEntry(kind: .file, components: [Array("six".utf8)], size: 6, mode: 0o644, modified: 0)
        let padding = [UInt8](repeating: 0, count: 512 - 6 + 1024)
        let header = try #require(TransferHeader(kind: .folder, name: "small"))
        let sender = SimulatedSender(header, entry.encoded() + Array("6bytes".utf8) + padding)
        mkdir(path("in"), 0o700)
        #expect(try run.run("continue", "--output", path("in"), answer: daemon([sender])) == .done)
        #expect(run.test.folder.text(of: "in/small/six") == "6bytes")
        #expect(run.output.contains("\nreceived  \(path("in/small")), 6 bytes"), "\(run.output)")
    }

    @Test func `the output shows what was received`() throws {
        let sender = try SimulatedSender("draft\u{202E}.txt", content)
        #expect(try run.run("continue", "--output", path("out.bin"), answer: daemon([sender])) == .done)
        #expect(run.output.contains("\ntitle     Draft\n"))
        #expect(
            run.output.contains(
                "stream    draft\\u{202E}.txt, 97.7 KiB from laptop\nreceived  \(path("out.bin")), 97.7 KiB"))
    }

    @Test func `progress is a line of JSON per second`() throws {
        let clock = ManualClock()
        let run = try CommandRun(clock: clock)
        let sender = try SimulatedSender("draft.txt", content)
        var passed: FakeDaemon.Call?
        sender.onBytes = { _, call, bytes in
            passed = call
            sender.write(Array(bytes.prefix(60_000)))
            call?.reply(PassFileReply(moved: 60_000, done: false).json, continues: true)
        }
        var hasProgress = false
        run.onOutput = { [content] line in
            if line.contains("\"event\":\"stream\"") {
                run.afterReplies { clock.advance(by: .seconds(1)) }
            } else if line.contains("\"event\":\"progress\""), !hasProgress {
                hasProgress = true
                sender.write(Array(content.dropFirst(60_000)))
                passed?.reply(PassFileReply(moved: content.count, done: true).json)
                sender.bytesSent()
            }
        }
        let out = run.test.folder.file("out.bin")
        #expect(try run.run("continue", "--output", out, "--json", answer: daemon([sender])) == .done)
        #expect(
            run.objects[2] == [
                "version": 1, "event": "progress", "stream": .string(Sample.stream.hex), "received": 60_000,
                "size": .integer(Int64(content.count)),
            ])
    }

    @Test func `an interrupted transfer resumes where it stopped`() throws {
        let first = try SimulatedSender("draft.txt", content)
        let second = try SimulatedSender("draft.txt", content)
        first.onBytes = { stream, call, bytes in
            first.write(Array(bytes.prefix(40_000)))
            let end = StreamEndedError(moved: 40_000, outcome: .gone, message: "it was cut")
            call?.fail(AppErrorName.streamEnded.rawValue, end.json)
            stream.close()
        }
        let status = try run.run("continue", "--output", path("out.bin"), "--json", answer: daemon([first, second]))
        #expect(status == .done)
        #expect(second.offset == 40_000)
        #expect(run.test.folder.bytes(of: "out.bin") == content)
        #expect(run.objects.compactMap { $0["from"]?.integer } == [0, 40_000])
        #expect(run.errorObjects == [["version": 1, "note": "it was cut; retrying"]])
        #expect(
            run.daemon.parameters(of: "Continue") == [
                "activity": .string(Sample.activityID(0xA1).hex), "from": .string(Sample.device(0x1A).hex),
                "take": true,
            ])
    }

    @Test func `a transfer resumes if its stream has ended before the daemon is called about the file`() throws {
        let first = try SimulatedSender("draft.txt", content)
        let second = try SimulatedSender("draft.txt", content)
        first.refusal = .noSuchStream
        let status = try run.run("continue", "--output", path("out.bin"), "--json", answer: daemon([first, second]))
        #expect(status == .done)
        #expect(run.test.folder.bytes(of: "out.bin") == content)
        #expect(run.errorObjects == [["version": 1, "note": "it was cut; retrying"]])
    }

    @Test func `an interrupted transfer resumes after the sender has a new account key`() throws {
        let first = try SimulatedSender("draft.txt", content)
        let second = try SimulatedSender("draft.txt", content)
        first.onBytes = { stream, call, bytes in
            first.write(Array(bytes.prefix(40_000)))
            let end = StreamEndedError(moved: 40_000, outcome: .gone, message: "it was cut")
            call?.fail(AppErrorName.streamEnded.rawValue, end.json)
            stream.close()
        }
        let answer = daemon([first, second])
        var continued = 0
        let status = try run.run("continue", "--output", path("out.bin"), "--json") { call in
            if call.member == "Continue" { continued += 1 }
            guard call.member == "Continue", continued == 2 else { return answer(call) }
            call.fail(
                ControlErrorName.continuationFailed.rawValue, HandoffFailure.accountKeyMissing(device: "laptop").json)
        }
        #expect(status == .done)
        #expect(continued == 3)
        #expect(second.offset == 40_000)
        #expect(run.test.folder.bytes(of: "out.bin") == content)
    }

    @Test(.timeLimit(.minutes(5)))
    func `it fails when nothing moves`() throws {
        let clock = ManualClock()
        let run = try CommandRun(clock: clock)
        let sender = try SimulatedSender("draft.txt", content)
        sender.onBytes = { stream, call, bytes in
            sender.write(Array(bytes.prefix(2048)))
            stream.close()
            let end = StreamEndedError(moved: 2048, outcome: .gone, message: "it was cut")
            call?.fail(AppErrorName.streamEnded.rawValue, end.json)
            run.afterReplies { clock.advance(by: .seconds(40)) }
        }
        let status = try run.run(
            "continue", "--output", run.test.folder.file("out.bin"), "--timeout", "20", "--json",
            answer: {
                let daemon = daemon([sender])
                return { call in
                    if call.member == "ListActivities" { call.reply(["activities": []]) } else { daemon(call) }
                }
            }())
        #expect(status == .failed)
        #expect(run.errorObjects.last?["error"] == "TransferFailed")
        #expect(run.errorObjects.last?["reason"] == "gone")
        #expect(run.test.folder.bytes(of: "out.bin") == nil)
    }

    @Test func `a stream that was not accepted is not retried`() throws {
        let sender = try SimulatedSender("draft.txt", content)
        sender.onBytes = { stream, call, _ in
            let end = StreamEndedError(moved: 0, outcome: .refused, message: "nobody took it")
            call?.fail(AppErrorName.streamEnded.rawValue, end.json)
            stream.close()
        }
        let answer = daemon([sender], outcome: .refused)
        #expect(try run.run("continue", "--output", path("out.bin"), "--json", answer: answer) == .failed)
        #expect(run.errorObjects.map { $0["reason"] } == ["failed"])
        #expect(run.daemon.methods.filter { $0 == "Continue" }.count == 1)
    }

    @Test func `bytes that the daemon cannot write to the file are written here`() throws {
        let sender = try SimulatedSender("draft.txt", content)
        sender.refusal = .invalidDescriptor
        sender.onBytes = { stream, call, bytes in
            #expect(call == nil)
            stream.write(Array(bytes.prefix(70_000)))
            stream.write(Array(bytes.dropFirst(70_000)))
            sender.bytesSent()
        }
        #expect(try run.run("continue", "--output", path("out.bin"), answer: daemon([sender])) == .done)
        #expect(run.test.folder.bytes(of: "out.bin") == content)
        #expect(sender.succeeded)
    }

    @Test func `an end that overtakes the last reply is handled after it`() throws {
        let sender = try SimulatedSender("draft.txt", content)
        sender.onBytes = { [run] stream, call, bytes in
            sender.write(bytes)
            stream.write(TransferFrame.error(TransferFailure(.changed, "it was changed")).encoded())
            stream.shutdownWrite()
            // Two turns later, when the end has arrived.
            run.later { run.later { call?.reply(PassFileReply(moved: bytes.count, done: true).json) } }
        }
        #expect(try run.run("continue", "--output", path("out.bin"), "--json", answer: daemon([sender])) == .failed)
        #expect(
            run.errorObjects == [
                [
                    "version": 1, "error": "TransferFailed",
                    "message": "the other device reports: it changed there while it was being sent",
                    "reason": "changed",
                ]
            ])
        // The part could not be resumed.
        #expect(run.test.folder.names.allSatisfy { !$0.contains("out") })
    }

    @Test func `an interrupt keeps the received part`() throws {
        let sender = try SimulatedSender("draft.txt", content)
        sender.onBytes = { [run] _, call, bytes in
            sender.write(Array(bytes.prefix(50_000)))
            call?.reply(PassFileReply(moved: 50_000, done: false).json, continues: true)
            run.interruptSoon()
        }
        #expect(try run.run("continue", "--output", path("out.bin"), answer: daemon([sender])) == .interrupted)
        #expect(
            run.diagnostics
                == "handoffctl: 48.8 KiB of 97.7 KiB are kept; run the same command again to resume\n")
        try run.test.loop.runTurns(5)
        #expect(sender.failure?.reason == .cancelled)
        let next = try SimulatedSender("draft.txt", content)
        #expect(try run.run("continue", "--output", path("out.bin"), answer: daemon([next])) == .done)
        #expect(next.offset == 50_000)
        #expect(run.test.folder.bytes(of: "out.bin") == content)
    }

    @Test func `standard output gets only the bytes`() throws {
        let sender = try SimulatedSender("draft.txt", content)
        #expect(try run.run("continue", "--output", "-", "--json", answer: daemon([sender])) == .done)
        #expect(run.written.withLock { $0 } == content)
        #expect(run.output.isEmpty)
        #expect(run.errorObjects.map { $0["event"]?.string } == [nil, "stream", "received"])
        #expect(run.errorObjects.last?["path"] == .null)
        #expect(!run.daemon.methods.contains("PassFile"))
    }

    @Test(arguments: [[], ["a1a1a1a"], ["--latest"]])
    func `an activity without streams is refused before its origin counts it as continued`(_ words: [String]) throws {
        let command = ["continue", "--output", path("out.bin"), "--json"] + words
        #expect(try run.run(command, answer: daemon([], streams: false)) == .failed)
        #expect(!run.daemon.methods.contains("Continue"))
        #expect(run.errorObjects.last?["error"] == "StreamFailed")
        #expect(run.errorObjects.last?["code"] == 3328)
        #expect(run.errorObjects.last?["reason"] == "streamsUnsupported")
        #expect(!run.daemon.methods.contains("OpenStream"))
    }

    @Test func `in a folder a taken name gets a number`() throws {
        try run.test.folder.write("mine", to: "draft.txt")
        let sender = try SimulatedSender("draft.txt", content)
        #expect(
            try run.run("continue", "--output", run.test.folder.path, "--json", answer: daemon([sender])) == .done)
        #expect(run.test.folder.text(of: "draft.txt") == "mine")
        #expect(try LocalFile.read(run.test.folder.file("draft (2).txt"), limit: 1 << 20).bytes == content)
        #expect(run.objects.last?["path"] == .string(run.test.folder.file("draft (2).txt")))
    }

    @Test func `a failure of the sender is reported in its words`() throws {
        let status = try run.run("continue", "--output", path("out.bin"), "--json") { [self] call in
            guard call.member == "OpenStream" else { return daemon([])(call) }
            call.upgrade(["stream": .string(Sample.stream.hex)], received: { _, _ in }, ended: { $0.finish() })
            call.stream.write(TransferFrame.error(TransferFailure.shared(.busy, "once only")).encoded())
        }
        #expect(status == .failed)
        #expect(run.errorObjects.last?["reason"] == "busy")
        #expect(run.errorObjects.last?["message"] == "the other device reports: once only")
    }

    @Test func `an impossible destination fails before any request`() throws {
        #expect(try run.run("continue", "--output", path("none/out")) == .failed)
        #expect(run.daemon.log.isEmpty)
        #expect(try run.run("continue", "--output", "") == .wrongUsage)
    }
}
