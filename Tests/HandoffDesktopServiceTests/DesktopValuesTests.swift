import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

@testable import HandoffHandlers

/// The values sent between the daemon and handoff-desktop.
struct DesktopValuesTests {
    private static func handler(_ id: String, name: String = "N", launch: Handler.Launch) throws -> Handler {
        Handler(
            id: try #require(AppID(id)), name: name, types: [try #require(ActivityType("com.example.a"))], team: "T",
            domains: [try #require(DomainClaim("*.example.org"))], launch: launch, path: "/a/\(id)", installed: 7)
    }

    /// The value as the other side parses it.
    private static func crossing(_ object: JSONObject) throws -> JSONObject {
        let limits = JSONLimits(bytes: VarlinkFramer.maxMessage)
        return try #require(try JSON(parsing: JSON.object(object).encoded(), limits: limits).object)
    }

    @Test func `the first of two network names for an interface counts, and overlong ones are refused`() throws {
        let names = NetworkNames(networks: [
            NetworkNames.Network(interface: "wlan0", name: "Café"), NetworkNames.Network(interface: "wlan0", name: "x"),
        ])
        let read = try NetworkNames(json: try Self.crossing(names.json))
        #expect(read.byInterface == ["wlan0": "Café"])
        let long = NetworkNames.Network(interface: "wlan0", name: String(repeating: "x", count: 257))
        #expect(throws: VarlinkError.invalidParameter("networks")) {
            try NetworkNames(json: NetworkNames(networks: [long]).json)
        }
    }

    @Test func `apps arrive as declared, without their start commands`() throws {
        let type = try #require(ActivityType("com.example.a"))
        let chosen = try #require(AppID("b"))
        let registry = HandlerRegistry(
            handlers: [
                try Self.handler("a", launch: .command(["/bin/secret"])),
                try Self.handler("b", launch: .desktopEntry(path: "/a/b")),
            ], defaults: HandlerDefaults(choices: [type: [chosen]]), opensPages: true)
        let sent = InstalledApps(registry: registry, problems: ["cannot use x: y"])
        let text = String(decoding: JSON.object(sent.json).encoded(), as: UTF8.self)
        #expect(!text.contains("secret"))
        let received = try InstalledApps(json: try Self.crossing(sent.json))
        #expect(received.registry.handlers.map(\.launch) == [.elsewhere(.manifest), .elsewhere(.desktop)])
        #expect(received.registry.handlers.map(\.types) == [[type], [type]])
        #expect(received.registry.handlers.first?.domains.map(\.description) == ["*.example.org"])
        #expect(received.registry.defaults.apps(for: type) == [chosen])
        #expect(received.registry.opensPages)
        #expect(received.problems == ["cannot use x: y"])
    }

    @Test func `an app from a kind of file that this version does not know is left out`() throws {
        let registry = HandlerRegistry(
            handlers: try ["a", "b"].map { try Self.handler($0, launch: .desktopEntry(path: "/a")) }, opensPages: true)
        var json = InstalledApps(registry: registry).json
        var apps = try #require(json["apps"]?.array)
        var app = try #require(apps.first?.object)
        app["source"] = "portal"
        apps[0] = .object(app)
        json["apps"] = .array(apps)
        #expect(try InstalledApps(json: json).registry.handlers.map(\.id.text) == ["b"])
    }

    @Test func `a list that does not fit in a message is cut with a problem`() throws {
        let long = String(repeating: "n", count: 1000)
        let handlers = try (0..<2000).map { try Self.handler("a\($0)", name: long, launch: .command([])) }
        let sent = InstalledApps(registry: HandlerRegistry(handlers: handlers, opensPages: false)).json
        #expect(JSON.object(sent).encoded().count < VarlinkFramer.maxMessage)
        let received = try InstalledApps(json: sent)
        #expect((100..<2000).contains(received.registry.handlers.count))
        #expect(received.problems.contains { $0.contains("too many") })
    }

    @Test func `at most 32 unusable files are named`() {
        let apps = InstalledApps(problems: Set((0..<100).map { "\($0)" }))
        #expect(apps.problems.count == InstalledApps.maxProblems)
    }

    @Test func `sessions arrive as in logind, including that they are unknown`() throws {
        let session = LoginSession(id: "2", type: "wayland", isLocked: true, isIdle: true, idleSince: 99)
        for report in [LoginReport.sessions([session]), .sessions([]), .absent, .silent] {
            #expect(try LoginReport(json: try Self.crossing(report.json)) == report)
        }
        #expect(throws: VarlinkError.self) { try LoginReport(json: ["report": "sessions", "sessions": ["x"]]) }
        #expect(throws: VarlinkError.self) { try LoginReport(json: ["report": "perhaps", "sessions": []]) }
    }

    @Test func `the sleep state arrives`() throws {
        for sleep in [MachineSleep.awake, .imminent] {
            #expect(try MachineSleep(json: try Self.crossing(sleep.json)) == sleep)
        }
        #expect(throws: VarlinkError.self) { try MachineSleep(json: ["sleep": "perhaps"]) }
    }

    @Test(arguments: [
        NotificationEvent.appeared, .gone, .closed(5, reason: 2), .token(.max, "t"), .chosen(1, key: "default"),
    ])
    func `the events of a notification server arrive`(_ event: NotificationEvent) throws {
        #expect(try NotificationEvent(json: try Self.crossing(event.json)) == event)
    }

    @Test func `an overlong text of a server is not sent`() {
        let long = NotificationEvent.chosen(1, key: String(repeating: "k", count: 5000))
        #expect(!long.isAcceptable)
        #expect(throws: VarlinkError.self) { try NotificationEvent(json: long.json) }
        #expect(throws: VarlinkError.self) {
            try NotificationEvent(json: ["event": "closed", "id": -1, "reason": 1])
        }
        #expect(throws: VarlinkError.self) { try NotificationEvent(json: ["event": "other"]) }
    }

    @Test func `the content of the tray and the choices in it arrive, and content beyond the limits does not`() throws {
        let offer = TrayContent.Offer(
            device: Sample.device(1), activity: Sample.activityID(2), label: .alone(.verbatim("Draft")), icon: nil)
        var content = TrayContent(offers: [offer], omitted: 7, paused: nil)
        #expect(try TrayContent(json: try Self.crossing(content.json)) == content)
        for label in ["a\0b", String(repeating: "l", count: 5000)] {
            content.offers[0].label = .alone(.verbatim(label))
            #expect(throws: VarlinkError.self) { try TrayContent(json: content.json) }
        }
        content.offers = Array(repeating: offer, count: 21)
        #expect(throws: VarlinkError.self) { try TrayContent(json: content.json) }
        let chosen = TrayEvent.chosen(offer.device, offer.activity, token: ActivationToken("t"))
        for event in [chosen, .chosen(offer.device, offer.activity, token: nil), .appeared, .gone, .paused(true)] {
            #expect(try TrayEvent(json: try Self.crossing(event.json)) == event)
        }
        #expect(throws: VarlinkError.self) { try TrayEvent(json: ["event": "chosen", "device": "x"]) }
    }

    @Test func `a notification arrives, and one beyond the limits does not`() throws {
        var note = DesktopNotification(
            headline: [.phrase("s {v}", ["v": [.verbatim("v"), .message("m")]])], details: [.plural("b", "c", 2)],
            icon: "i", choices: [DesktopNotification.Choice(key: "k", label: .phrase("l"))])
        #expect(try DesktopNotification(json: try Self.crossing(note.json)) == note)
        note.urgency = 1
        #expect(try DesktopNotification(json: try Self.crossing(note.json)) == note)
        for urgency: Int64 in [-1, 2, .max] {
            note.urgency = urgency
            #expect(throws: VarlinkError.self) { try DesktopNotification(json: note.json) }
        }
        note.urgency = nil
        note.progress = 100
        #expect(try DesktopNotification(json: try Self.crossing(note.json)) == note)
        note.progress = 101
        #expect(throws: VarlinkError.self) { try DesktopNotification(json: note.json) }
        note.progress = nil
        note.headline = [.alone(.verbatim("a\0b"))]
        #expect(throws: VarlinkError.self) { try DesktopNotification(json: note.json) }
        note.headline = [.alone(.verbatim(String(repeating: "s", count: 5000)))]
        #expect(throws: VarlinkError.self) { try DesktopNotification(json: note.json) }
    }
}

/// The values compared with the interface file, which documents the socket.
struct DesktopInterfaceTests {
    private func file() throws -> InterfaceDefinition {
        InterfaceDefinition(try #require(HandoffInterfaces.desktop))
    }

    /// A text that is an id in the fields of a device and an activity.
    private static func id(_ field: String) -> String { String(repeating: "0a", count: field == "device" ? 32 : 16) }

    @Test func `a value has the fields of the interface file`() throws {
        let file = try file()
        #expect(file.differences(of: LoginSession.self, from: "Session", text: { $0 }) == [])
        #expect(file.differences(of: DesktopNotification.self, from: "Notification", text: { $0 }) == [])
        #expect(file.differences(of: Phrase.self, from: "Phrase", text: { $0 }) == [])
        #expect(file.differences(of: Phrase.Text.self, from: "Text", text: { $0 }) == [])
        #expect(file.differences(of: TrayContent.Offer.self, from: "TrayOffer", text: Self.id) == [])
        #expect(file.differences(of: DesktopNotification.Choice.self, from: "Action", text: { $0 }) == [])
    }

    @Test func `replies match the interface file`() throws {
        let file = try file()
        let app = try #require(AppID("a"))
        let type = try #require(ActivityType("t"))
        let handler = Handler(
            id: app, name: "N", types: [type], team: nil, domains: [try #require(DomainClaim("a.example"))],
            launch: .command([]), path: "/a", installed: 7)
        let registry = HandlerRegistry(
            handlers: [handler], defaults: HandlerDefaults(choices: [type: [app]]), opensPages: true)
        #expect(file.differences(in: InstalledApps(registry: registry).json, from: "FollowApps)") == [])
        for report in [.sessions([LoginSession(id: "2", type: "tty")]), .absent, .silent] as [LoginReport] {
            #expect(file.differences(in: report.json, from: "FollowSessions)") == [])
        }
        for event in [.appeared, .gone, .closed(5, reason: 2), .token(1, "t"), .chosen(1, key: "k")]
            as [NotificationEvent]
        {
            #expect(file.differences(in: event.json, from: "FollowNotifications)") == [])
        }
        for event in [.appeared, .paused(false), .chosen(Sample.device(1), Sample.activityID(1), token: nil)]
            as [TrayEvent]
        {
            #expect(file.differences(in: event.json, from: "FollowTray)") == [])
        }
    }
}
