import HandoffCommands
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import LoopIO
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

    /// The objects that a status bar receives for these events, until the daemon stops.
    private func modules(_ events: [WatchEvent]) throws -> [JSONObject] {
        let status = try run.run("watch", "--format", "waybar") { call in
            for event in events { call.reply(event.json, continues: true) }
            call.crash()
        }
        #expect(status == .daemonNotReachable)
        return run.objects
    }

    private static func offer(
        _ byte: UInt8, _ title: String?, from device: String = "laptop"
    ) throws -> OfferedActivity {
        Sample.offer(byte, type: try #require(ActivityType("com.example.editing")), title: title, deviceName: device)
    }

    @Test func `a status bar gets one line at the start and one for each visible change`() throws {
        let offer = try Self.offer(0xA1, "Draft")
        var later = offer
        later.age += 100
        let newer = try Self.offer(0xA2, "Letter")
        let modules = try modules([
            .added(offer), .ready, .changed(later), .added(newer), .removed(offer), .removed(offer), .removed(newer),
        ])
        #expect(modules.map { $0["text"]?.string } == ["1", "2", "1", ""])
        #expect(modules.map { $0["alt"]?.string } == ["offers", "offers", "offers", "none"])
        #expect(modules.allSatisfy { $0["alt"] == $0["class"] })
        let tooltips = ["Draft from laptop", "Letter from laptop\nDraft from laptop", "Letter from laptop", ""]
        #expect(modules.map { $0["tooltip"]?.string } == tooltips)
    }

    @Test(arguments: [true, false])
    func `a kept activity has its state in the tooltip of a status bar, and in the lines`(isForBar: Bool) throws {
        let now = 1_700_000_000.0
        var offer = try Self.offer(0xA1, "Draft")
        offer.streams = true
        offer.kept = ControlKept(.asleep, since: now, asOf: now - 60)
        let (since, time) = (LocalTime.short(now, now: 0), LocalTime.short(now - 60, now: 0))
        let state = "asleep since \(since), as of \(time), files and streams not available until it is back"
        guard isForBar else {
            _ = try run.run("watch") { call in
                call.reply(WatchEvent.added(offer).json, continues: true)
                call.crash()
            }
            let start = "offered  a1a1a1a  “Draft” from laptop, \(state)  (com.example.editing, "
            #expect(run.output.hasPrefix(start))
            return
        }
        var closed = offer
        closed.kept = ControlKept(.ended, since: nil, asOf: now - 60)
        let ended = "closed there at \(time), files and streams no longer available"
        let tooltips = try modules([.added(offer), .ready, .changed(closed)]).map { $0["tooltip"]?.string }
        #expect(tooltips == ["Draft from laptop, \(state)", "Draft from laptop, \(ended)", ""])
    }

    @Test func `a status bar is empty without offers and after the daemon stopped`() throws {
        let offer = try Self.offer(0xA1, "Draft")
        #expect(try modules([.ready, .added(offer)]).map { $0["text"] } == ["", "1", ""])
    }

    @Test func `a status bar does not count clipboards`() throws {
        let clipboard = Sample.offer(0xA1, type: .clipboard, title: nil, deviceName: "laptop")
        let modules = try modules([.added(clipboard), .ready, .changed(clipboard), .removed(clipboard)])
        #expect(modules.map { $0["text"] } == [""])
    }

    @Test func `equal ids of two devices are two offers of a status bar`() throws {
        let offer = try Self.offer(0xA1, "Draft")
        var other = offer
        other.device = Sample.device(0x2B)
        let modules = try modules([.added(offer), .added(other), .ready, .removed(other)])
        #expect(modules.map { $0["text"] } == ["2", "1", ""])
    }

    @Test func `titles and names cannot form markup or lines in the tooltip of a status bar`() throws {
        let title = "<b>&amp;</b>\n\u{202E}\0" + String(repeating: "x", count: 500)
        let modules = try modules([.added(try Self.offer(0xA1, title, from: "<i>&\n")), .ready])
        let tooltip = try #require(modules.first?["tooltip"]?.string)
        #expect(tooltip.hasPrefix("&lt;b&gt;&amp;amp;&lt;/b&gt;\\u{A}\\u{202E}\\u{0}xxx"))
        #expect(tooltip.hasSuffix("x… from &lt;i&gt;&amp;\\u{A}"))
        #expect(tooltip.count < 150)
    }

    @Test func `the tooltip of a status bar has a limited number of lines`() throws {
        var module = StatusBarModule()
        for byte in 1...200 as ClosedRange<UInt8> { _ = module.apply(.added(try Self.offer(byte, nil))) }
        let object = module.apply(.ready)
        #expect(object?["text"] == "200")
        let lines = try #require(object?["tooltip"]?.string).split(separator: "\n")
        #expect(lines.count == 13 && lines.first == "com.example.editing from laptop" && lines.last == "and 188 more")
    }

    @Test(arguments: [["watch", "--format", "i3"], ["watch", "--format", "waybar", "--json"]])
    func `other formats are refused`(words: [String]) throws {
        #expect(try run.run(words) == .wrongUsage)
    }
}
