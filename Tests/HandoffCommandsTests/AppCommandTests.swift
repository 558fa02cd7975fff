import HandoffCommands
import HandoffControl
import HandoffJSON
import HandoffTestSupport
import Testing

/// `apps`, and the commands that change a setting of an app.
@Suite struct AppCommandTests {
    private let run: CommandRun

    init() throws {
        run = try CommandRun()
    }

    private static let apps = [
        ControlApp(
            id: "org.example.Editor", name: "Editor", source: .desktop, file: "/a/org.example.Editor.desktop",
            types: ["com.example.edit"], team: "T", domains: ["d.example"], running: true, verified: true, enabled: true
        ),
        ControlApp(
            id: "tool", name: "Tool\u{1B}[2J", source: .attached, file: nil, types: ["com.example.tool"], team: nil,
            domains: [], running: true, verified: false, enabled: true),
        ControlApp(
            id: "z.off", name: "z.off", source: .none, file: nil, types: [], team: nil, domains: [], running: false,
            verified: nil, enabled: false, kept: false),
    ]

    private static let reply: JSONObject = ["apps": .array(apps.map { .object($0.json) })]

    @Test func `apps are listed in a table with their state and types`() throws {
        #expect(try run.run("apps") { $0.reply(Self.reply) } == .done)
        #expect(
            run.output == #"""
                ID                  NAME           STATE                CONTINUES
                org.example.Editor  Editor         running              com.example.edit, d.example
                tool                Tool\u{1B}[2J  running, unverified  com.example.tool
                z.off               z.off          off, not kept

                """#)
    }

    @Test func `apps are a line of JSON each`() throws {
        #expect(try run.run("apps", "--json") { $0.reply(Self.reply) } == .done)
        #expect(run.objects.count == 3)
        #expect(run.objects.first?["types"] == ["com.example.edit"])
        #expect(run.objects.first?["verified"] == true)
        #expect(run.objects.last?["enabled"] == false)
        #expect(run.objects.last?["verified"] == JSON.null)
    }

    @Test(arguments: [("enable", true), ("disable", false)])
    func `an app is switched, and its full id is printed`(word: String, enabled: Bool) throws {
        #expect(try run.run("app", word, "org.ex", "--json") { $0.reply(["app": "org.example.Editor"]) } == .done)
        #expect(run.daemon.parameters(of: "SetAppEnabled") == ["app": "org.ex", "enabled": .bool(enabled)])
        #expect(run.objects.first?["\(word)d"] == "org.example.Editor")
    }

    @Test(arguments: [("keep", true, "kept"), ("no-keep", false, "noLongerKept")])
    func `other devices may keep an app's activities or not`(word: String, kept: Bool, member: String) throws {
        #expect(try run.run("app", word, "org.ex", "--json") { $0.reply(["app": "org.example.Editor"]) } == .done)
        #expect(run.daemon.parameters(of: "SetAppKept") == ["app": "org.ex", "kept": .bool(kept)])
        #expect(run.objects.first?[member] == "org.example.Editor")
    }

    @Test func `an invalid app id is a usage error`() throws {
        #expect(try run.run("app", "enable", "a b") { $0.reply() } == .wrongUsage)
        #expect(try run.run("app", "enable") { $0.reply() } == .wrongUsage)
    }
}
