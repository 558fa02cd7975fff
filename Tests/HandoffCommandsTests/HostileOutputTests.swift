import HandoffCommands
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import Testing

/// Texts by which other devices could control a terminal or forge a line.
/// `docs/hostile-activities.md` has the same rows.
@Suite struct HostileOutputTests {
    private static let texts = [
        "\u{1B}[2J\u{1B}]0;title\u{7}", "\u{1B}]8;;http://evil/\u{1B}\\link", "\u{9B}31m\u{90}q\u{9C}",
        "a\rb\u{8}\u{7F}",
        "line\nhandoffctl: forged\n", "\u{2028}\u{2029}\u{85}\u{B}\u{C}", "\u{202E}txt.exe\u{2066}\u{2069}\u{200E}",
        "z\u{200B}w\u{FEFF}n\u{2060}j\u{AD}", "\u{3164}\u{115F}\u{34F}", "\u{E0041}\u{E007F}", "\u{FFF9}a\u{FFFB}",
        "\0",
        "\",\"forged\":true,\"x\":\"", "\\u001b[2J", "%s%n$(id)`id`",
    ]
    private static let all = texts.joined(separator: " ")

    private let run: CommandRun

    init() throws {
        run = try CommandRun()
    }

    private static func type() throws -> ActivityType { try #require(ActivityType("com.example.edit;$(id)%s\"\\")) }

    private static func offer() throws -> OfferedActivity {
        Sample.offer(
            0xA1, type: try type(), title: all, deviceName: all,
            opens: ControlOpens(kind: .nothing, name: all, reason: all))
    }

    private static func activity() throws -> ContinuedActivity {
        var origin = Sample.origin
        origin = Origin(
            device: origin.device, deviceName: all, deviceKind: origin.deviceKind, app: all, appVersion: all)
        let content = ActivityContent(
            // A JSON key cannot contain NUL, and a team has at most 255 bytes.
            type: try type(), title: all, userInfo: [texts[4] + texts[6]: .array([.string(all)])],
            team: texts.prefix(8).joined(), requiredUserInfoKeys: [all])
        return ContinuedActivity(id: Sample.activityID(0xA1), content: content, origin: origin)
    }

    /// Checks that the output has only visible characters in logical order.
    private func expectPlain(lines: Int?, _ sourceLocation: SourceLocation = #_sourceLocation) {
        for text in [run.output, run.diagnostics] {
            let hidden = text.unicodeScalars.filter { $0 != "\n" && (VisibleText.isHidden($0) || $0 == "\u{200D}") }
            #expect(hidden.isEmpty, "\(hidden.map(\.value))", sourceLocation: sourceLocation)
        }
        let count = run.output.split(separator: "\n").count
        if let lines { #expect(count == lines, "\(run.output)", sourceLocation: sourceLocation) }
        #expect(!run.output.split(separator: "\n").contains { $0.hasPrefix("handoffctl: forged") })
    }

    @Test(arguments: [true, false])
    func `a list has a line for each offer`(onTerminal: Bool) throws {
        let offer = try Self.offer()
        let reply: JSONObject = ["activities": [.object(offer.json)]]
        #expect(try run.run("list", onTerminal: onTerminal) { $0.reply(reply) } == .done)
        expectPlain(lines: 2)
    }

    @Test func `json is one object a line and exact`() throws {
        let offer = try Self.offer()
        #expect(try run.run("--json", "list") { $0.reply(["activities": [.object(offer.json)]]) } == .done)
        expectPlain(lines: 1)
        let back = try #require(run.objects.first)
        #expect(back["title"] == .string(Self.all) && back["forged"] == nil)
    }

    @Test func `watch prints a line for each event`() throws {
        let offer = try Self.offer()
        _ = try run.run("watch") {
            $0.reply(WatchEvent.added(offer).json, continues: true)
            $0.reply(WatchEvent.removed(offer).json)
        }
        expectPlain(lines: nil)
        #expect(run.output.split(separator: "\n").allSatisfy { $0.hasPrefix("offered") || $0.hasPrefix("removed") })
    }

    @Test(arguments: [
        ["continue", "--print"], ["continue", "--print", "--json"], ["continue"], ["continue", "--json"],
    ])
    func `continue shows the received activity as text`(words: [String]) throws {
        let activity = try Self.activity()
        let opens = words.contains("--print") ? nil : ControlOpens(kind: .app, name: Self.all)
        let event = ContinueEvent.continued(activity.type, activity, opens, continuation: nil)
        #expect(try run.run(words) { $0.reply(event.json) } == .done, "\(run.diagnostics)")
        expectPlain(lines: words == ["continue", "--print"] ? 11 : 1)
    }

    @Test(arguments: [["continue"], ["continue", "--json"]])
    func `a failure is reported in plain text`(words: [String]) throws {
        let failure = HandoffFailure(code: 4608, reason: Self.all, message: Self.all)
        #expect(try run.run(words) { $0.fail("dev.handoff1.Control.ContinuationFailed", failure.json) } == .failed)
        expectPlain(lines: 0)
        #expect(run.diagnostics.split(separator: "\n").count == 1, "\(run.diagnostics)")
    }

    @Test(arguments: [["log"], ["log", "--json"]])
    func `the log has a line for each entry`(words: [String]) throws {
        let entry = ControlLogEntry(
            number: 1, event: .continuation, direction: .in, type: Self.all, device: Sample.device(0x1A),
            deviceName: Self.all, app: Self.all, outcome: Self.all)
        let page: JSONObject = ["entries": [.object(entry.json)], "hasMore": false]
        #expect(try run.run(words) { $0.reply(page) } == .done)
        expectPlain(lines: 1)
    }

    @Test func `apps shows the texts of files and processes`() throws {
        let app = ControlApp(
            id: Self.all, name: Self.all, source: .attached, file: nil, types: [Self.all], team: Self.all,
            domains: [Self.all], running: true, verified: false, enabled: true)
        #expect(try run.run("apps") { $0.reply(["apps": [.object(app.json)]]) } == .done)
        expectPlain(lines: 2)
    }
}
