import HandoffJSON
import HandoffModel
import Testing

@testable import HandoffBrowser

/// The messages of the extension, and the accepted callers.
struct ExtensionMessageTests {
    private static let id = String(repeating: "0a", count: 16)
    private static let device = String(repeating: "0b", count: 32)

    @Test func `each kind is parsed`() throws {
        let page = ExtensionMessage(json: ["kind": "page", "url": "u", "title": "t", "container": "c"])
        #expect(page == .page(FrontPage(url: "u", title: "t", container: "c")))
        #expect(ExtensionMessage(json: ["kind": "noPage"]) == .noPage)
        #expect(ExtensionMessage(json: ["kind": "moved"]) == .moved)
        #expect(ExtensionMessage(json: ["kind": "place", "request": 3, "place": nil]) == .place(request: 3, nil))
        let place = ExtensionMessage(json: ["kind": "place", "request": 3, "place": ["ratio": 0.5]])
        #expect(place == .place(request: 3, PagePlace(ratio: 0.5)))
        let id = try #require(ContinuationID(Self.id))
        #expect(
            ExtensionMessage(json: ["kind": "opened", "continuation": .string(Self.id), "handled": true])
                == .opened(id, true))
        #expect(ExtensionMessage(json: ["kind": "tabList", "request": 1]) == .tabList(request: 1, []))
        #expect(ExtensionMessage(json: ["kind": "popupOpen"]) == .popup(.open))
        #expect(ExtensionMessage(json: ["kind": "popupClose"]) == .popup(.close))
        #expect(ExtensionMessage(json: ["kind": "tabs"]) == .popup(.tabs))
        #expect(ExtensionMessage(json: ["kind": "pause", "seconds": 60]) == .popup(.pause(seconds: 60)))
        #expect(ExtensionMessage(json: ["kind": "pause", "seconds": nil]) == .popup(.pause(seconds: nil)))
        #expect(ExtensionMessage(json: ["kind": "resume"]) == .popup(.resume))
        #expect(ExtensionMessage(json: ["kind": "code", "url": "u"]) == .popup(.code(url: "u")))
        let device = try #require(DeviceID(Self.device))
        #expect(
            ExtensionMessage(
                json: [
                    "kind": "send", "device": .string(Self.device), "url": "u", "title": "t", "place": ["ratio": 0.5],
                ])
                == .popup(.send(FrontPage(url: "u", title: "t"), PagePlace(ratio: 0.5), to: device)))
        #expect(ExtensionMessage(json: ["kind": "send", "url": "u"]) == nil)
        let go = ExtensionMessage(json: ["kind": "go", "activity": .string(Self.id), "device": .string(Self.device)])
        let activity = try #require(ActivityID(Self.id))
        #expect(go == .popup(.go(activity, device)))
        let older = ExtensionMessage(
            json: [
                "kind": "go", "activity": .string(Self.id), "device": .string(Self.device), "older": true,
            ])
        #expect(older == .popup(.go(activity, device, mayBeOlder: true)))
    }

    @Test(
        arguments: [
            [:], ["kind": 7], ["kind": "unknown"], ["kind": "page"], ["kind": "page", "url": 7], ["kind": "place"],
            ["kind": "place", "request": 1.5], ["kind": "opened", "continuation": "x", "handled": true],
            ["kind": "opened", "continuation": .string(id), "handled": 1], ["kind": "tabList"],
            ["kind": "pause", "seconds": -1],
            ["kind": "pause", "seconds": 1e300], ["kind": "code"],
            ["kind": "go", "activity": .string(id), "device": "x"],
        ] as [JSONObject])
    func `any other message is ignored`(json: JSONObject) {
        #expect(ExtensionMessage(json: json) == nil)
    }

    @Test func `the extension is identified by each browser's arguments, and the browser by its program`() {
        let chromium = ["chrome-extension://\(BrowserCaller.chromiumExtension)/"]
        let firefox = [
            "/usr/lib/mozilla/native-messaging-hosts/dev.handoff1.browser.json", BrowserCaller.firefoxExtension,
        ]
        #expect(BrowserCaller(words: chromium, program: "/usr/lib/chromium/chromium")?.app == "chromium")
        #expect(BrowserCaller(words: chromium, program: "/opt/google/chrome/chrome")?.app == "google-chrome")
        #expect(BrowserCaller(words: chromium, program: nil)?.app == "chromium")
        #expect(BrowserCaller(words: firefox, program: "/usr/lib/firefox-esr/firefox-esr")?.app == "firefox-esr")
        #expect(BrowserCaller(words: firefox, program: "/opt/firefox/firefox-bin")?.app == "firefox")
        #expect(BrowserCaller(words: firefox, program: nil)?.app == "firefox-esr")
    }

    @Test(arguments: [
        [], [""], ["chrome-extension://aaaa/"], ["chrome-extension://\(BrowserCaller.chromiumExtension)"],
        ["chrome-extension://\(BrowserCaller.chromiumExtension)/x"], ["/x.json"], ["/x.json", "other@example.org"],
        ["x.json", BrowserCaller.firefoxExtension],
    ])
    func `other callers are not served`(words: [String]) {
        #expect(BrowserCaller(words: words, program: "/usr/bin/x") == nil)
    }

    @Test func `sockets and accounts match the daemon's paths, and an explicit daemon needs no account`() {
        let usual = HostPlaces(environment: { ["HOME": "/h", "XDG_RUNTIME_DIR": "/r"][$0] }, userID: 7)
        #expect(usual.app == "/r/handoff-app/app.socket")
        #expect(usual.control == "/r/handoff/control.socket")
        #expect(usual.accounts == ["/h/.config/handoff/state/account", "/h/.local/state/handoff/state/account"])
        #expect(usual.exclusions == ["/etc/handoff/browser.conf", "/h/.config/handoff/browser.conf"])
        let given = HostPlaces(environment: { ["HOME": "relative", "HANDOFF_SOCKET": "/s"][$0] }, userID: 7)
        #expect(given.app == "/s" && given.control == "/s" && given.accounts.isEmpty)
        #expect(given.exclusions == ["/etc/handoff/browser.conf"])
    }
}
