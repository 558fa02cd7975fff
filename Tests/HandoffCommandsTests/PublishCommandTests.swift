import HandoffCommands
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

@Suite struct PublishCommandTests {
    private let run: CommandRun
    private let activity = Sample.activityID(0xA1)

    init() throws {
        run = try CommandRun()
    }

    /// Returns a daemon that attaches, publishes, and then requests one save.
    private func daemon(
        advice: String? = nil, saved: @escaping (FakeDaemon.Call) -> Void = { _ in }
    ) -> (FakeDaemon.Call) -> Void {
        var events: FakeDaemon.Call?
        return { [activity] call in
            switch call.member {
            case "Attach":
                events = call
                call.reply(AppEvent.attached(session: "s1").json, continues: true)
            case "Publish":
                call.reply(AppEvent.published(activity, advice: advice).json)
            case "BecomeCurrent":
                call.reply()
                events?.reply(AppEvent.save(activity).json, continues: true)
            case "AnswerSave":
                events?.reply(AppEvent.saved(activity).json, continues: true)
                call.reply(["advice": advice.map { .string($0) } ?? JSON.null])
                if let events { saved(events) }
            default:
                call.reply()
            }
        }
    }

    @Test(arguments: [
        (["publish"], "'publish' needs TYPE|URL|FILE|FOLDER|-, --git or --session"),
        (["publish", "a.b", "--untracked"], "--untracked needs --git"),
        (["publish", "a.b", "--read-only"], "--read-only needs --session"),
        (["publish", "--git", "--session", "tmux:a"], "--git and --session cannot be used together"),
        (["publish", "--git", "--title", "A"], "--git and --title cannot be used together"),
        (["publish", "a.b", "--session", "tmux:a"], "--session and 'a.b' cannot be used together"),
        (["publish", "--session", "tmux:a", "--json"], "--session and --json cannot be used together"),
        (["publish", "--session", ""], "--session is empty"),
    ])
    func `arguments that do not belong together are refused`(_ words: [String], _ reason: String) throws {
        #expect(try run.run(words) == .wrongUsage)
        #expect(run.diagnostics.contains(reason), "\(run.diagnostics)")
        #expect(run.daemon.methods.isEmpty)
    }

    @Test func `a sent item goes to one device and ends when it is accepted`() throws {
        var published: JSONObject?
        let publishing = daemon {
            $0.reply(AppEvent.continued(Sample.activityID(0xA1), by: Sample.origin).json, continues: true)
        }
        let status = try run.run("send", "laptop", "https://example.org/a") { call in
            if call.member == "Publish" { published = call.parameters["activity"]?.object }
            publishing(call)
        }
        #expect(status == .done)
        #expect(published?["to"] == "laptop" && published?["webpageURL"] == "https://example.org/a")
        #expect(run.output.contains("continued"))
    }

    @Test(arguments: [
        ("short", "short"), ("\n  \n first \nsecond", "first"),
        (String(repeating: "x", count: 61), String(repeating: "x", count: 60) + "…"),
    ])
    func `a text is sent as the payload, and its beginning is the title`(text: String, title: String) throws {
        var published: JSONObject?
        let publishing = daemon {
            $0.reply(AppEvent.continued(Sample.activityID(0xA1), by: Sample.origin).json, continues: true)
        }
        let status = try run.run("send", "laptop", "--text", text) { call in
            if call.member == "Publish" { published = call.parameters["activity"]?.object }
            publishing(call)
        }
        #expect(status == .done)
        #expect(published?["title"] == .string(title) && published?["to"] == "laptop")
        #expect(published?["type"] == "dev.handoff1.text")
        #expect(published?["userInfo"] == .object(["text": .string(text)]))
        #expect(published?["supportsContinuationStreams"] == nil)
    }

    @Test(arguments: [["laptop"], ["laptop", "--text", ""], ["laptop", "./a", "--text", "b", "--title", "c"]])
    func `an empty send and one title for two items are refused`(words: [String]) throws {
        #expect(try run.run(["send"] + words) { _ in } == .wrongUsage)
    }

    @Test(arguments: [
        ["send", "laptop", "no-file"], ["send", "laptop", "no-file.txt"], ["send", "laptop", "/no-file"],
        ["send", "laptop", "./no-file"], ["send", "laptop", "no file"], ["send", "laptop", "com.example.editing"],
        ["publish", "no-file.txt"], ["publish", "/no-file"], ["publish", "com.example.editing", "--stream", "no-file"],
        ["publish", "com.example.editing", "--user-info", "@no-file"],
    ])
    func `a missing file has one status, whatever its name`(_ words: [String]) throws {
        #expect(try run.run(words) { _ in } == .failed)
        #expect(run.diagnostics.contains("no such file"), "\(run.diagnostics)")
    }

    @Test func `--to publishes an activity of an app for one device`() throws {
        var published: JSONObject?
        let publishing = daemon()
        run.onOutput = { [run] line in
            if line.hasPrefix("saved") { run.context?.interrupt() }
        }
        let status = try run.run("publish", "com.example.editing", "--to", "laptop") { call in
            if call.member == "Publish" { published = call.parameters["activity"]?.object }
            publishing(call)
        }
        #expect(status == .done && published?["to"] == "laptop")
    }

    @Test(arguments: [
        (#"{"at": {"deep": [{"$url": "FILE:///home/me/a"}]}}"#, true), (#"{"at": {"$url": "https://a/"}}"#, false),
        (#"{"at": "file:///home/me/a"}"#, false),
    ])
    func `a file in the payload that cannot be read is reported`(userInfo: String, isReported: Bool) throws {
        run.onOutput = { [run] line in
            if line.hasPrefix("published") { run.context?.interrupt() }
        }
        #expect(try run.run("publish", "com.example.editing", "--user-info", userInfo, answer: daemon()) == .done)
        let note = "cannot read the document a: other devices receive only its name"
        #expect(run.diagnostics.contains(note) == isReported, "\(run.diagnostics)")
    }

    @Test func `it reports that no device is offered the activity`() throws {
        let publishing = daemon()
        run.onDiagnostics = { [run] _ in run.context?.interrupt() }
        let status = try run.run("publish", "com.example.editing") { call in
            guard call.member == "GetStatus" else { return publishing(call) }
            call.reply(
                ControlStatus(
                    daemon: "1", device: Sample.device(0x3F), name: "desk", kind: .desktop, account: nil, epoch: nil,
                    discovery: "avahi", discoveryState: "running", port: 24_863, peers: [], published: 1, offered: 0,
                    tickets: [], warnings: []
                ).json)
        }
        #expect(status == .done)
        #expect(
            run.diagnostics.hasPrefix(
                "handoffctl: not offered to any device: this device is not in an account\n  handoffctl join,"))
    }

    /// Returns the activity published for an operand.
    private func published(_ operand: String) throws -> JSONObject {
        run.onOutput = { [run] line in
            if line.hasPrefix("published") { run.context?.interrupt() }
        }
        #expect(try run.run("publish", operand, answer: daemon()) == .done, "\(run.diagnostics)")
        return try #require(run.daemon.parameters(of: "Publish")?["activity"]?.object)
    }

    @Test func `a URL is offered as a page`() throws {
        let activity = try published("https://news.example/today")
        #expect(activity["type"]?.string == "NSUserActivityTypeBrowsingWeb")
        #expect(activity["webpageURL"]?.string == "https://news.example/today")
        #expect(activity["title"]?.string == "https://news.example/today")
        #expect(try run.run("publish", "https://") == .wrongUsage)
    }

    @Test func `a file is offered with its content`() throws {
        try run.test.folder.write("abc", to: "draft.odt")
        let activity = try published(run.test.folder.file("draft.odt"))
        #expect(activity["type"]?.string == "dev.handoff1.content")
        #expect(activity["title"]?.string == "draft.odt")
        #expect(activity["supportsContinuationStreams"] == true)
    }

    @Test func `a path that does not exist is not a type`() throws {
        #expect(try run.run("publish", run.test.folder.file("missing.odt")) == .failed)
        #expect(run.diagnostics.contains("missing.odt"))
        #expect(run.daemon.methods.isEmpty)
    }

    @Test func `a type without a dot is advised against`() throws {
        #expect(try published("x")["type"]?.string == "x")
        #expect(run.diagnostics.contains("advice: 'x' is used as an activity type"))
    }

    @Test func `it prints events until interrupted`() throws {
        run.onOutput = { [run] line in
            if line.hasPrefix("continued") { run.context?.interrupt() }
        }
        let status = try run.run(
            "publish", "com.example.editing", "--title", "Draft", "--user-info", #"{"page": 3}"#, "--required", "page",
            "--web-url", "https://example.org/", "--team", "T1",
            answer: daemon { [activity] in
                $0.reply(AppEvent.continued(activity, by: Sample.origin).json, continues: true)
            })
        #expect(status == .done)
        #expect(
            run.output == """
                published  a1a1a1a
                saved      a1a1a1a
                continued  a1a1a1a  by laptop (1a1a1a1)

                """)
        #expect(run.diagnostics.isEmpty)
        let calls = run.daemon.methods.filter { $0 != "GetStatus" }
        #expect(calls == ["Attach", "Publish", "BecomeCurrent", "AnswerSave", "Invalidate"])
        #expect(
            run.daemon.parameters(of: "Attach") == [
                "app": "handoffctl", "version": .string(ProgramVersion.number), "team": "T1", "types": [],
            ])
        #expect(
            run.daemon.parameters(of: "Publish") == [
                "session": "s1",
                "activity": [
                    "type": "com.example.editing", "title": "Draft", "userInfo": ["page": 3],
                    "webpageURL": "https://example.org/", "team": "T1", "requiredUserInfoKeys": ["page"],
                    "needsSave": true, "expirationDate": .real(ActivityDescription.neverExpires),
                ],
            ])
        #expect(
            run.daemon.parameters(of: "AnswerSave") == [
                "session": "s1", "activity": .string(activity.hex), "change": [:],
            ])
    }

    @Test func `its events are lines of JSON`() throws {
        run.onOutput = { [run] _ in
            if run.objects.count == 3 { run.context?.interrupt() }
        }
        let answer = daemon { [activity] in
            $0.reply(AppEvent.continued(activity, by: Sample.origin).json, continues: true)
        }
        #expect(try run.run("publish", "com.example.editing", "--json", answer: answer) == .done)
        let id = JSON.string(activity.hex)
        #expect(
            run.objects == [
                ["version": 1, "event": "published", "id": id, "type": "com.example.editing", "title": nil],
                ["version": 1, "event": "saved", "id": id],
                [
                    "version": 1, "event": "continued", "id": id, "type": "com.example.editing", "title": nil,
                    "device": .string(Sample.origin.device.hex), "deviceName": "laptop", "deviceKind": "laptop",
                ],
            ])
    }

    @Test func `a file is re-read when the daemon requests a save`() throws {
        try run.test.folder.write(#"{"state": "old"}"#, to: "info.json")
        var answer = daemon()
        let plain = answer
        answer = { [run] call in
            if call.member == "BecomeCurrent" { try? run.test.folder.write(#"{"state": "new"}"#, to: "info.json") }
            plain(call)
        }
        run.onOutput = { [run] line in
            if line.hasPrefix("saved") { run.context?.interrupt() }
        }
        let file = run.test.folder.file("info.json")
        #expect(try run.run("publish", "com.example.editing", "--user-info", "@\(file)", answer: answer) == .done)
        #expect(run.daemon.parameters(of: "Publish")?["activity"]?.object?["userInfo"] == ["state": "old"])
        #expect(
            run.daemon.parameters(of: "AnswerSave")?["change"] == ["userInfo": ["state": "new"], "needsSave": true])
    }

    @Test func `a file that became invalid keeps its last content`() throws {
        try run.test.folder.write(#"{"state": "old"}"#, to: "info.json")
        let plain = daemon()
        run.onOutput = { [run] line in
            if line.hasPrefix("saved") { run.context?.interrupt() }
        }
        let file = run.test.folder.file("info.json")
        let status = try run.run("publish", "com.example.editing", "--user-info", "@\(file)") { [run] call in
            if call.member == "BecomeCurrent" { try? run.test.folder.write("{", to: "info.json") }
            plain(call)
        }
        #expect(status == .done)
        #expect(
            run.daemon.parameters(of: "AnswerSave")?["change"] == ["userInfo": ["state": "old"], "needsSave": true])
        #expect(run.diagnostics.hasSuffix("its last content is used\n"))
    }

    @Test func `a malformed file is a usage error and a missing one a failure`() throws {
        try run.test.folder.write("[]", to: "info.json")
        let file = run.test.folder.file("info.json")
        #expect(try run.run("publish", "a", "--user-info", "@\(file)") == .wrongUsage)
        #expect(try run.run("publish", "a", "--user-info", "@\(file).none") == .failed)
        #expect(run.diagnostics.contains("\(file): not a JSON object"))
        #expect(run.diagnostics.contains("cannot read \(file).none: no such file or directory"))
        #expect(run.daemon.log.isEmpty)
    }

    @Test func `advice is printed once on standard error`() throws {
        run.onOutput = { [run] line in
            if line.hasPrefix("saved") { run.context?.interrupt() }
        }
        let answer = daemon(advice: "the payload has 4000 bytes")
        #expect(try run.run("publish", "com.example.editing", answer: answer) == .done)
        #expect(run.diagnostics == "handoffctl: advice: the payload has 4000 bytes\n")
    }

    @Test func `a refused activity ends it`() throws {
        let plain = daemon()
        let status = try run.run("publish", "com.example.editing", "--json") { call in
            guard call.member == "Publish" else { return plain(call) }
            call.fail(
                "dev.handoff1.InvalidActivity", ["field": "userInfo", "message": "too large", "code": 4611])
        }
        #expect(status == .failed)
        #expect(run.errorObjects.first?["error"] == "InvalidActivity")
        #expect(run.errorObjects.first?["code"] == 4611)
    }

    @Test func `an activity that the daemon withdraws ends it`() throws {
        let answer = daemon { [activity] in $0.reply(AppEvent.withdrawn(activity).json, continues: true) }
        #expect(try run.run("publish", "com.example.editing", answer: answer) == .failed)
        #expect(run.diagnostics == "handoffctl: the daemon withdrew the activity\n")
    }

    @Test func `a daemon that is not running at the start is not waited for`() throws {
        run.daemon.stop()
        #expect(try run.run("publish", "com.example.editing") == .daemonNotReachable)
    }

    @Test func `it is published again after a restart of the daemon`() throws {
        var second: FakeDaemon?
        let path = run.daemon.path
        run.onDiagnostics = { [run] _ in
            second = try? FakeDaemon(path: path, loop: run.test.loop)
            second?.onCall = daemon()
        }
        run.onOutput = { [run] line in
            guard line.hasPrefix("saved") else { return }
            if second == nil { run.daemon.stop() } else { run.context?.interrupt() }
        }
        #expect(try run.run("publish", "com.example.editing", answer: daemon()) == .done)
        #expect(run.output == "published  a1a1a1a\nsaved      a1a1a1a\npublished  a1a1a1a\nsaved      a1a1a1a\n")
        #expect(run.diagnostics == "handoffctl: the daemon stopped; resuming when it is back\n")
        #expect(second?.methods == ["Attach", "Publish", "BecomeCurrent", "AnswerSave", "Invalidate"])
    }

    @Test func `a second interrupt does not wait for the daemon`() throws {
        let plain = daemon()
        run.onOutput = { [run] line in
            guard line.hasPrefix("saved") else { return }
            run.context?.interrupt()
            run.context?.interrupt()
        }
        let status = try run.run("publish", "com.example.editing") { call in
            if call.member != "Invalidate" { plain(call) }
        }
        #expect(status == .done)
    }
}
