import HandoffCommands
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

@Suite struct HandleCommandTests {
    private let run: CommandRun

    init() throws {
        run = try CommandRun()
    }

    private static func content() throws -> ContinuedActivity {
        let type = try #require(ActivityType("com.example.editing"))
        return Sample.continued(type: type, title: "x; touch bad $(false)", userInfo: ["page": 3])
    }

    /// Returns a daemon that attaches, sends these events, and ends the command after the reply.
    private func daemon(_ events: [AppEvent]) -> (FakeDaemon.Call) -> Void {
        { [run] call in
            switch call.member {
            case "Attach":
                call.reply(AppEvent.attached(session: "s1").json, continues: true)
                for event in events { call.reply(event.json, continues: true) }
            case "AnswerContinue":
                call.reply()
                run.interruptSoon()
            default:
                call.reply()
            }
        }
    }

    @Test func `without a command every activity is accepted and shown`() throws {
        let content = try Self.content()
        let events: [AppEvent] = [
            .willContinue(Sample.continuation, content.type, Sample.origin), .continue(Sample.continuation, content),
        ]
        #expect(try run.run("handle", "com.example.editing", "--team", "T1", answer: daemon(events)) == .done)
        #expect(
            run.output.hasPrefix(
                """
                willContinue  com.example.editing from laptop
                continue      “x; touch bad $(false)” from laptop
                type      com.example.editing

                """))
        #expect(
            run.daemon.parameters(of: "Attach") == [
                "app": "handoffctl", "version": .string(ProgramVersion.number), "team": "T1",
                "types": ["com.example.editing"],
            ])
        #expect(
            run.daemon.parameters(of: "AnswerContinue") == [
                "session": "s1", "continuation": .string(Sample.continuation.hex), "handled": true,
            ])
    }

    @Test func `events are lines of JSON`() throws {
        let content = try Self.content()
        let failure = HandoffFailure.timedOut(device: "laptop")
        let events: [AppEvent] = [
            .willContinue(Sample.continuation, content.type, Sample.origin),
            .didFail(Sample.continuation, content.type, failure), .continue(Sample.continuation, content),
        ]
        #expect(try run.run("handle", "com.example.editing", "--json", answer: daemon(events)) == .done)
        #expect(run.objects.map { $0["event"]?.string } == ["willContinue", "didFail", "continue"])
        #expect(run.objects.allSatisfy { $0["continuation"]?.string == Sample.continuation.hex })
        #expect(run.objects.first?["deviceName"] == "laptop")
        #expect(run.objects[1]["failure"]?.object?["code"] == 4610)
        #expect(run.objects.last?["userInfo"] == ["page": 3])
        #expect(run.objects.last?["origin"]?.object?["app"] == "editor")
    }

    @Test func `the command gets JSON on standard input and no other data from the peer`() throws {
        let content = try Self.content()
        let folder = run.test.folder
        let script =
            "cat > \(folder.file("input")); env > \(folder.file("env")); echo \"$0 $*\" > \(folder.file("args"))"
        let answer = daemon([.continue(Sample.continuation, content)])
        #expect(try run.run("handle", "com.example.editing", "--exec", script, answer: answer) == .done)
        let input = try #require(folder.text(of: "input"))
        var expected = content.json
        expected["version"] = 1
        #expect(input.hasSuffix("}\n"))
        #expect(try JSON(parsing: Array(input.utf8), limits: JSONLimits(bytes: 10_000)) == .object(expected))
        #expect(folder.text(of: "env")?.contains("touch bad") == false)
        #expect(folder.text(of: "args") == "sh \n")
        #expect(run.daemon.parameters(of: "AnswerContinue")?["handled"] == true)
    }

    @Test(arguments: ["exit 7", "kill -9 $$", "-no-such-command", "cat; false"])
    func `a failed command does not handle the activity`(_ script: String) throws {
        let answer = daemon([.continue(Sample.continuation, try Self.content())])
        #expect(try run.run("handle", "com.example.editing", "--json", "--exec", script, answer: answer) == .done)
        #expect(run.daemon.parameters(of: "AnswerContinue")?["handled"] == false)
        let note = run.errorObjects.first?["note"]
        #expect(note?.string?.hasPrefix("the command exited with status ") == true)
        #expect(run.daemon.parameters(of: "AnswerContinue")?["failure"] == note)
    }

    @Test func `a command that reads nothing still handles`() throws {
        let answer = daemon([.continue(Sample.continuation, try Self.content())])
        #expect(try run.run("handle", "com.example.editing", "--exec", "true", answer: answer) == .done)
        #expect(run.daemon.parameters(of: "AnswerContinue")?["handled"] == true)
    }

    @Test func `a late reply is reported and otherwise ignored`() throws {
        let plain = daemon([.continue(Sample.continuation, try Self.content())])
        run.onDiagnostics = { [run] _ in run.context?.interrupt() }
        let status = try run.run("handle", "com.example.editing") { call in
            guard call.member == "AnswerContinue" else { return plain(call) }
            call.fail("dev.handoff1.NoSuchContinuation", ["continuation": "c0"])
        }
        #expect(status == .done)
        #expect(run.diagnostics.hasPrefix("handoffctl: reply not accepted: "))
    }
}
