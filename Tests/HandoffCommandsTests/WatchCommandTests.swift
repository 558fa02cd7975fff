import HandoffCommands
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import Testing

@Suite struct WatchCommandTests {
    private let run: CommandRun

    init() throws {
        run = try CommandRun()
    }

    private static func events() throws -> [WatchEvent] {
        let type = try #require(ActivityType("com.example.editing"))
        let offer = Sample.offer(0xA1, type: type, title: "Draft")
        return [.added(offer), .ready, .removed(offer)]
    }

    @Test func `events are lines until the daemon stops`() throws {
        let events = try Self.events()
        let status = try run.run("watch") { call in
            for event in events { call.reply(event.json, continues: true) }
            call.crash()
        }
        #expect(status == .daemonNotReachable)
        #expect(
            run.output == """
                offered  a1a1a1a  “Draft” from laptop  (com.example.editing, opens in Editor)
                ready
                removed  a1a1a1a  “Draft” from laptop  (com.example.editing, opens in Editor)

                """)
        #expect(run.diagnostics.contains("closed the connection"))
    }

    @Test func `events are lines of JSON until interrupted`() throws {
        let events = try Self.events()
        run.onOutput = { [run] _ in
            if run.objects.count == events.count { run.context?.interrupt() }
        }
        let status = try run.run("watch", "--json") { call in
            for event in events { call.reply(event.json, continues: true) }
        }
        #expect(status == .done)
        #expect(run.objects.map { $0["event"]?.string } == ["added", "ready", "removed"])
        #expect(run.objects.allSatisfy { $0["version"] == 1 })
        #expect(run.objects.first?["title"] == "Draft")
        #expect(run.objects.first?["opens"] == ["kind": "app", "name": "Editor"])
        #expect(run.diagnostics.isEmpty)
    }
}
