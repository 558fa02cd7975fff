import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

@testable import HandoffBrowser

/// The host between a simulated extension and a simulated daemon.
struct BrowserHostTests {
    private static let page = FrontPage(url: "https://a.example/", title: "A")
    private static let activity = String(repeating: "0a", count: 16)
    private static let continuation = String(repeating: "0c", count: 16)

    private let test: LoopTest
    private let places: HostPlaces

    init() throws {
        test = try LoopTest()
        let socket = test.folder.file("s")
        places = HostPlaces(environment: { ["HANDOFF_SOCKET": socket][$0] }, userID: ProcessEnvironment.userID)
    }

    /// A daemon that accepts everything. The attachment that handles pages is kept for its events.
    private func daemon(_ attached: @escaping (FakeDaemon.Call) -> Void) throws -> FakeDaemon {
        let daemon = try FakeDaemon(path: places.app, loop: test.loop)
        daemon.onCall = { call in
            switch call.member {
            case "Attach":
                let isForPages = call.parameters["types"]?.array?.isEmpty == false
                call.reply(AppEvent.attached(session: isForPages ? "pages" : "tabs").json, continues: true)
                if isForPages { attached(call) }
            case "Publish": call.reply(["event": "published", "activity": .string(Self.activity)])
            default: call.reply()
            }
        }
        return daemon
    }

    @Test func `a page is published when the daemon is available, saved on request, and opened on arrival`() throws {
        var events: FakeDaemon.Call?
        let daemon = try daemon { events = $0 }
        var heard: [HostMessage] = []
        var host: BrowserHost?
        host = BrowserHost(loop: test.loop, places: places, app: "chromium") { message in
            heard.append(message)
            switch message {
            case .ready: host?.received(.page(Self.page))
            case .offered(true): events?.reply(["event": "save", "activity": .string(Self.activity)], continues: true)
            case .save(let request, let url):
                #expect(url == Self.page.url)
                host?.received(.place(request: request, PagePlace(ratio: 0.5)))
            case .open(let id, let url, let place):
                #expect(url == "https://b.example/" && place == PagePlace(ratio: 0.25))
                host?.received(.opened(id, true))
            default: break
            }
        }
        let answer = daemon.onCall
        daemon.onCall = { call in
            answer(call)
            if call.member == "AnswerSave" {
                events?.reply(Self.continued("https://b.example/"), continues: true)
            }
            if call.member == "AnswerContinue" { test.end() }
        }
        host?.start()
        try test.run()
        #expect(daemon.parameters(of: "AnswerSave")?["change"]?.object?["userInfo"] == ["place": ["ratio": 0.5]])
        #expect(daemon.parameters(of: "AnswerContinue")?["handled"] == true)
        #expect(daemon.log.filter { $0.member == "Publish" }.count == 2, "the page, and the open tabs")
        host?.stop()
    }

    @Test(arguments: [
        "javascript:alert(1)", "file:///etc/passwd", "https://a@b.example/", "http://192.168.1.1/apply.cgi?reboot=1",
        "http://0x7f.1:631/", "http://router.lan/", "http://[fe80::1]/",
    ])
    func `an address that no browser should open is not passed to it`(url: String) throws {
        let daemon = try daemon { $0.reply(Self.continued(url), continues: true) }
        let host = BrowserHost(loop: test.loop, places: places, app: "chromium") { message in
            if case .open = message { Issue.record("it was opened") }
        }
        let answer = daemon.onCall
        daemon.onCall = { call in
            answer(call)
            if call.member == "AnswerContinue" { test.end() }
        }
        host.start()
        try test.run()
        #expect(daemon.parameters(of: "AnswerContinue")?["handled"] == false)
        host.stop()
    }

    @Test func `it attaches when the socket appears, and again after the daemon has died`() throws {
        var attached = 0
        var daemon: FakeDaemon?
        var lost = 0
        let host = BrowserHost(loop: test.loop, places: places, app: "chromium") { message in
            guard case .lost = message else { return }
            lost += 1
            daemon = try? self.daemon { _ in
                attached += 1
                if attached == 2 { return test.end() }
                test.loop.later {
                    daemon?.stop()
                    daemon = nil
                }
            }
        }
        host.start()
        try test.run()
        #expect(attached == 2 && lost >= 2)
        host.stop()
    }

    @Test func `a local page has a QR code for a phone on the same network, although it is never offered`() throws {
        var codes: [PopupAnswer] = []
        let host = BrowserHost(loop: test.loop, places: places, app: "chromium") { message in
            if case .popup(.code(let url, let rows)) = message {
                codes.append(.code(url: url, rows: rows.map { _ in [] }))
            }
        }
        host.received(.popup(.open))
        for url in ["http://192.168.1.5/", "javascript:alert(1)"] { host.received(.popup(.code(url: url))) }
        #expect(codes == [.code(url: "http://192.168.1.5/", rows: []), .code(url: "javascript:alert(1)", rows: nil)])
        host.stop()
    }

    private static func continued(_ url: String) -> JSONObject {
        let device = String(repeating: "0d", count: 32)
        return [
            "event": "continue", "continuation": .string(continuation),
            "content": [
                "id": .string(activity), "type": "NSUserActivityTypeBrowsingWeb", "title": nil,
                "userInfo": ["place": ["ratio": 0.25]], "webpageURL": .string(url), "team": nil,
                "requiredUserInfoKeys": [],
                "targetContentIdentifier": nil, "streams": false,
                "origin": ["device": .string(device), "deviceName": "d", "deviceKind": "laptop"],
            ],
        ]
    }
}
