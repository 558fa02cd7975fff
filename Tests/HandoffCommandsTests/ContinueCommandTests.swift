import HandoffCommands
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

@Suite struct ContinueCommandTests {
    private static func activity() throws -> ContinuedActivity {
        let type = try #require(ActivityType("com.example.editing"))
        return Sample.continued(type: type, title: "Draft\u{202E}", userInfo: ["page": 3, "at": ["$date": 1.5]])
    }

    private static func answer(_ call: FakeDaemon.Call, _ activity: ContinuedActivity?, _ opens: ControlOpens?) {
        guard let type = ActivityType("com.example.editing") else { return }
        call.reply(ContinueEvent.willContinue(type).json, continues: true)
        call.reply(ContinueEvent.continued(type, activity, opens, continuation: nil).json)
    }

    @Test func `print shows the activity with its payload`() throws {
        let run = try CommandRun()
        let activity = try Self.activity()
        #expect(try run.run("continue", "--print") { Self.answer($0, activity, nil) } == .done)
        #expect(
            run.output == """
                type      com.example.editing
                title     Draft\\u{202E}
                from      laptop (laptop)
                app       editor 2.1
                web page  https://example.org/draft
                required  page
                userInfo  {
                            "page": 3,
                            "at": {
                              "$date": 1.5
                            }
                          }

                """)
        #expect(run.daemon.parameters(of: "Continue") == ["take": true])
        #expect(run.daemon.log.first?.more == true)
    }

    @Test func `print as JSON has user info and origin`() throws {
        let run = try CommandRun()
        let activity = try Self.activity()
        let status = try run.run(
            "continue", "A1-A1", "--type", "com.example.editing", "--from", "laptop", "--timeout", "2.5", "--print",
            "--json"
        ) { Self.answer($0, activity, nil) }
        #expect(status == .done)
        var expected = activity.json
        expected["version"] = 1
        #expect(run.objects == [expected])
        #expect(
            run.daemon.parameters(of: "Continue") == [
                "activity": "a1a1", "type": "com.example.editing", "from": "laptop", "take": true, "timeout": 2.5,
            ])
    }

    @Test func `without print it reports what opened`() throws {
        let run = try CommandRun()
        let opens = ControlOpens(kind: .app, name: "Editor")
        #expect(try run.run("continue") { Self.answer($0, nil, opens) } == .done)
        #expect(run.output == "continued com.example.editing: opened in Editor\n")
    }

    @Test func `a page that opened is named by its host`() throws {
        let run = try CommandRun()
        var activity = try Self.activity()
        activity.webpageURL = "https://Shop.example:8443/a?b"
        #expect(try run.run("continue") { Self.answer($0, activity, ControlOpens(kind: .web)) } == .done)
        #expect(run.output.hasSuffix(": opened on the web, at shop.example:8443\n"), "\(run.output)")
    }

    @Test func `without print the JSON output includes what opened`() throws {
        let run = try CommandRun()
        #expect(try run.run("continue", "--json") { Self.answer($0, nil, ControlOpens(kind: .web)) } == .done)
        #expect(
            run.objects == [
                ["version": 1, "event": "continued", "type": "com.example.editing", "opens": ["kind": "web"]]
            ])
    }

    @Test func `nothing to continue has its own status`() throws {
        let run = try CommandRun()
        let status = try run.run("continue", "--json") {
            $0.fail("dev.handoff1.Control.NothingToContinue", ["message": "no activity is on offer"])
        }
        #expect(status == .nothingToContinue)
        #expect(
            run.errorObjects == [
                ["version": 1, "error": "NothingToContinue", "message": "no activity is on offer"]
            ])
    }

    @Test func `a failed continuation keeps its code`() throws {
        let run = try CommandRun()
        let failure = HandoffFailure.timedOut(device: "laptop")
        let status = try run.run("continue", "--json") {
            $0.fail("dev.handoff1.Control.ContinuationFailed", failure.json)
        }
        #expect(status == .failed)
        #expect(run.errorObjects.first?["code"] == 4610)
        #expect(run.errorObjects.first?["reason"] == "timedOut")
    }

    @Test func `an ambiguous id lists the matches`() throws {
        let run = try CommandRun()
        let status = try run.run("continue", "a1") {
            $0.fail(
                "dev.handoff1.Control.AmbiguousIdentifier",
                ["identifier": "a1", "candidates": ["a1b", "a1c"], "message": "'a1' fits several"])
        }
        #expect(status == .failed)
        #expect(run.diagnostics == "handoffctl: 'a1' fits several\n  it matches: a1b, a1c\n")
    }

    @Test func `an id that two devices offer requires the device`() throws {
        let run = try CommandRun()
        let id = Sample.activityID(0xA1).hex
        let status = try run.run("continue", id) {
            $0.fail(
                "dev.handoff1.Control.AmbiguousIdentifier",
                ["identifier": .string(id), "candidates": [.string(id), .string(id)], "message": "2 devices offer it"])
        }
        #expect(status == .failed)
        #expect(
            run.diagnostics == """
                handoffctl: 2 devices offer it
                  list their devices with: handoffctl list
                  choose one with: --from DEVICE

                """)
    }

    @Test func `a final reply that promises more is refused`() throws {
        let run = try CommandRun()
        let status = try run.run("continue", "--json") { $0.reply(ContinueEvent.willContinue(.browsingWeb).json) }
        #expect(status == .failed)
        #expect(run.errorObjects.first?["error"] == "BadAnswer")
    }

    @Test func `a terminal shows which device is waited for`() throws {
        let clock = ManualClock()
        let run = try CommandRun(clock: clock)
        let activity = try Self.activity()
        var continuation: FakeDaemon.Call?
        run.onDiagnostics = { _ in
            if let continuation { Self.answer(continuation, activity, nil) }
        }
        let status = try run.run("continue", "--print", onTerminal: true) { call in
            if call.member == "Continue" {
                continuation = call
                clock.advance(by: .milliseconds(300))
            } else {
                let offer = Sample.offer(0xA1, type: .browsingWeb, title: nil, deviceName: "desk\u{7}")
                call.reply(["activities": [.object(offer.json)]])
            }
        }
        #expect(status == .done)
        #expect(run.diagnostics == "handoffctl: waiting for desk\\u{7}…\n")
    }

    @Test func `nothing is written to a file while waiting`() throws {
        let clock = ManualClock()
        let run = try CommandRun(clock: clock)
        let activity = try Self.activity()
        let status = try run.run("continue", "--print") { call in
            clock.advance(by: .seconds(10))
            Self.answer(call, activity, nil)
        }
        #expect(status == .done)
        #expect(run.diagnostics.isEmpty)
    }

    @Test func `an app or the browser can be chosen`() throws {
        let run = try CommandRun()
        let opens = ControlOpens(kind: .app, name: "Editor")
        #expect(try run.run("continue", "--app", "org.example.Editor.desktop") { Self.answer($0, nil, opens) } == .done)
        #expect(run.daemon.parameters(of: "Continue") == ["app": "org.example.Editor"])
        let web = try CommandRun()
        #expect(try web.run("continue", "--web") { Self.answer($0, nil, ControlOpens(kind: .web)) } == .done)
        #expect(web.daemon.parameters(of: "Continue") == ["web": true])
    }

    @Test(arguments: [
        ["--web", "--app", "a"], ["--web", "--print"], ["--app", "a", "--output", "x.txt"], ["--app", ""],
        ["--app", "/usr/share/applications/a.desktop"], ["--app", "--help"], ["--app", "../a"], ["--app", ".desktop"],
        ["--app", "a\u{1B}[2J"],
    ])
    func `a choice that is invalid, or that excludes another option, is refused`(words: [String]) throws {
        let run = try CommandRun()
        #expect(try run.run(["continue"] + words) { _ in } == .wrongUsage)
        #expect(run.daemon.log.isEmpty)
    }

    @Test func `things that this device lacks are named after the activity was continued`() throws {
        func answer(_ call: FakeDaemon.Call) {
            guard let type = ActivityType("com.example.editing") else { return }
            let missing = [
                ControlMissing(.folder, name: "no\u{202E}tes"), ControlMissing(.checkout, name: "example.org/a/b"),
            ]
            call.reply(
                ContinueEvent.continued(
                    type, nil, ControlOpens(kind: .app, name: "Editor"), continuation: nil, missing: missing
                ).json)
        }
        let run = try CommandRun()
        #expect(try run.run("continue", answer: answer) == .done)
        #expect(
            run.diagnostics == """
                handoffctl: not on this device: the shared folder 'no\\u{202E}tes'
                  add 'root = no\\u{202E}tes FOLDER' to documents.conf
                handoffctl: not on this device: a checkout of example.org/a/b
                  clone it below a folder listed as 'checkouts' in documents.conf

                """)
        let json = try CommandRun()
        #expect(try json.run("continue", "--json", answer: answer) == .done)
        #expect(json.objects.first?["missing"]?.array?.last?.object?["name"] == "example.org/a/b")
        #expect(json.diagnostics.isEmpty)
    }
}
