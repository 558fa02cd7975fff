import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import Testing

@testable import HandoffCommands

/// Tests `copy` and `paste` with a fake daemon.
@Suite(.timeLimit(.minutes(5))) struct ClipboardCommandTests {
    private let run: CommandRun

    init() throws {
        run = try CommandRun()
    }

    /// Returns a daemon whose clipboard of another device has this payload.
    private func daemon(_ userInfo: JSONObject) -> (FakeDaemon.Call) -> Void {
        { call in
            guard call.member == "Continue" else {
                return call.fail("org.varlink.service.MethodNotFound", ["method": .string(call.method)])
            }
            let activity = Sample.continued(type: .clipboard, title: "", userInfo: userInfo)
            call.reply(ContinueEvent.continued(.clipboard, activity, nil, continuation: Sample.continuation).json)
        }
    }

    @Test(arguments: [
        (["copy", "--type", "text/uri-list"], "is not a format of clipboard content"),
        (["copy", "--type", "image/png", "a"], "cannot be used together"),
        (["paste", "--type", "text"], "is not a format of clipboard content"),
        (["paste", "a"], "paste"),
    ])
    func `invalid arguments are refused`(_ words: [String], _ reason: String) throws {
        #expect(try run.run(words) == .wrongUsage)
        #expect(run.diagnostics.contains(reason), "\(run.diagnostics)")
        #expect(run.daemon.methods.isEmpty)
    }

    @Test func `the formats have the words that the agent uses`() {
        let flags = ClipboardFormat.allCases.map(\.flag)
        #expect(flags == ["text", "html", "files", "png", "jpeg", "svg", "webp", "gif"])
    }

    @Test func `plain text is preferred, and printed unchanged except on a terminal`() throws {
        let content: JSONObject = ["text/html": "<b>", "text/plain": "a\u{1B}[2J\nb", "other": 1]
        #expect(try run.run("paste", answer: daemon(content)) == .done)
        #expect(run.output == "a\u{1B}[2J\nb")
        #expect(try run.run("paste", onTerminal: true, answer: daemon(content)) == .done)
        #expect(run.output == "a\u{1B}[2J\nb" + #"a\u{1B}[2J"# + "\nb\n")
    }

    @Test(
        arguments: [
            (["text/plain": 5], "a format without content"),
            (["image/png": ["$url": "https://example.org/"]], "cannot be fetched"),
            (["image/png": ["$url": "handoff-document:name/a"]], "cannot be fetched"),
            (["text/uri-list": [["$url": "file:///etc/passwd"]]], "without a valid URL"),
            (["text/uri-list": [7]], "a format without content"),
            (["text/uri-list": "file:///etc/passwd", "image/png": 1], "a format without content"),
            (["\u{1B}[2J": "a"], "not available as a known format"),
            ([:], "not available as a known format"),
        ] as [(JSONObject, String)])
    func `a malformed clipboard is refused`(_ content: JSONObject, _ reason: String) throws {
        #expect(try run.run("paste", answer: daemon(content)) == .failed)
        #expect(run.diagnostics.contains(reason), "\(run.diagnostics)")
        #expect(!run.diagnostics.contains("\u{1B}") && run.output.isEmpty)
    }

    @Test func `an image is not written to a terminal`() throws {
        let content: JSONObject = ["image/png": ["$url": "handoff-document:name/a?fetch=0"]]
        #expect(try run.run("paste", onTerminal: true, answer: daemon(content)) == .failed)
        #expect(run.diagnostics.contains("not shown on a terminal"))
    }
}
