import HandoffModel
import Testing

@testable import HandoffHandlers

/// The choice of apps, and the reasons for it.
struct HandlerRegistryTests {
    private static func type(_ text: String) -> ActivityType {
        guard let type = ActivityType(text) else { fatalError("the type is valid") }
        return type
    }

    private static func id(_ text: String) -> AppID {
        guard let id = AppID(text) else { fatalError("the id is valid") }
        return id
    }

    private static func app(
        _ id: String, _ types: [String], team: String? = nil, domains: [String] = [], installed: Int64 = 0
    ) -> Handler {
        Handler(
            id: Self.id(id), name: "The \(id)", types: Set(types.map(type)), team: team,
            domains: domains.compactMap(DomainClaim.init), launch: .desktopEntry(path: "/a/\(id).desktop"),
            path: "/a/\(id).desktop", installed: installed)
    }

    private static func running(_ app: String, _ types: [String], team: String? = nil, order: UInt64 = 1) -> RunningApp
    {
        RunningApp(session: "s\(order)", app: app, types: Set(types.map(type)), team: team, order: order)
    }

    private static func defaults(_ text: String) -> HandlerDefaults {
        HandlerDefaults(parsing: Array(text.utf8)) { _ in }
    }

    private static let edit = type("com.example.edit")

    @Test func `the running app comes first, then the user's choice, then the first installed app`() {
        let apps = [
            Self.app("old", ["com.example.edit"], installed: 1), Self.app("new", ["com.example.edit"], installed: 3),
            Self.app("chosen", ["com.example.edit"], installed: 2),
        ]
        let plain = HandlerRegistry(handlers: apps, opensPages: true)
        let first = plain.decide(Self.edit, team: nil, page: .none, running: [])
        #expect(first == HandlerDecision(.launch(apps[0]), name: "The old", .first(of: 3)))
        let chosen = HandlerRegistry(
            handlers: apps, defaults: Self.defaults("com.example.edit=gone;chosen;new"), opensPages: true)
        let choice = chosen.decide(Self.edit, team: nil, page: .none, running: [])
        #expect(choice == HandlerDecision(.launch(apps[2]), name: "The chosen", .chosen))
        let active = [Self.running("old", ["com.example.edit"])]
        let runs = chosen.decide(Self.edit, team: nil, page: .none, running: active)
        #expect(runs == HandlerDecision(.running(session: "s1"), name: "The old", .running))
    }

    @Test func `a later claim takes nothing over, however old its file, until the user chooses`() throws {
        let editor = Self.app("editor", ["com.example.edit"], domains: ["shop.example"], installed: 100)
        var registry = HandlerRegistry(handlers: [editor], opensPages: true)
        var history = ClaimHistory()
        let isFirstNew = history.take([editor])
        #expect(isFirstNew)
        #expect(ClaimHistory(decoding: history.encoded) == history)
        #expect(registry.yields().isEmpty)
        // The editor is updated, which changes its file's time, and another app with an older file
        // is installed.
        let updated = Self.app("editor", ["com.example.edit"], domains: ["shop.example"], installed: 300)
        let greedy = Self.app(
            "a.greedy", ["com.example.edit"], domains: ["*.example.org", "shop.example"], installed: 1)
        let isNew = history.take([updated, greedy])
        let isNewAgain = history.take([updated, greedy])
        #expect(isNew && !isNewAgain)
        registry = HandlerRegistry(handlers: [updated, greedy], opensPages: true)
        registry.history = history
        func opener(_ registry: HandlerRegistry, _ page: HandlerRegistry.Page) -> HandlerDecision {
            registry.decide(Self.edit, team: nil, page: page, running: [])
        }
        #expect(opener(registry, .none) == HandlerDecision(.launch(updated), name: "The editor", .first(of: 2)))
        let page = HandlerRegistry.Page.at("https://shop.example/x")
        let site = registry.decide(.browsingWeb, team: nil, page: page, running: [])
        #expect(site.opener == .launch(updated))
        let yields = registry.yields()
        #expect(yields[greedy.id]?.map(\.claim) == ["com.example.edit", "shop.example"])
        #expect(yields[greedy.id]?.allSatisfy { $0.to == updated } == true)
        #expect(yields[updated.id] == nil)
        // Either choice resolves the conflict.
        for chosen in ["editor", "a.greedy"] {
            let text = "com.example.edit=\(chosen)\nNSUserActivityTypeBrowsingWeb=\(chosen)"
            var settled = HandlerRegistry(handlers: [updated, greedy], defaults: Self.defaults(text), opensPages: true)
            settled.history = history
            #expect(opener(settled, .none).name == "The \(chosen)")
            #expect(settled.yields().isEmpty)
        }
        // Without the first app, the other one opens it.
        registry = HandlerRegistry(handlers: [greedy], opensPages: true)
        registry.history = history
        #expect(opener(registry, .none) == HandlerDecision(.launch(greedy), name: "The a.greedy", .only))
        // The first app regains its position when it is installed again.
        registry = HandlerRegistry(handlers: [greedy, updated], opensPages: true)
        registry.history = history
        #expect(opener(registry, .none).name == "The editor")
    }

    @Test func `apps of different teams do not conflict, except about web pages`() {
        let apps = [
            Self.app("a", ["com.example.edit", "NSUserActivityTypeBrowsingWeb"], team: "A", installed: 1),
            Self.app("b", ["com.example.edit", "NSUserActivityTypeBrowsingWeb"], team: "B", installed: 2),
        ]
        let registry = HandlerRegistry(handlers: apps, opensPages: true)
        #expect(registry.yields().mapValues { $0.map(\.claim) } == [apps[1].id: ["NSUserActivityTypeBrowsingWeb"]])
        var off = registry
        off.disabled = [apps[0].id]
        #expect(off.yields().isEmpty)
    }

    @Test(arguments: [
        "", "\n\n", "a", "a type", "a type x y", "a sort x", "/ type x", "a site nohost*", "a type \u{FF}",
    ])
    func `an invalid claim in the file is skipped`(text: String) {
        let bytes = Array((text + "\nb type com.example.edit\nb type com.example.edit\n").utf8)
        #expect(ClaimHistory(decoding: bytes).encoded == Array("b type com.example.edit\n".utf8))
    }

    @Test func `of the running apps, the user's choice is used, otherwise the last attached`() {
        let active = (1...3).map { Self.running("app\($0)", ["com.example.edit"], order: UInt64($0)) }
        let last = HandlerRegistry().decide(Self.edit, team: nil, page: .none, running: active)
        #expect(last.opener == .running(session: "s3"))
        let chosen = HandlerRegistry(handlers: [], defaults: Self.defaults("com.example.edit=app2"), opensPages: true)
        #expect(chosen.decide(Self.edit, team: nil, page: .none, running: active).opener == .running(session: "s2"))
    }

    @Test func `type and team are equal as bytes, and no team equals only no team`() {
        let composed = "caf\u{E9}"
        let decomposed = "cafe\u{301}"
        let registry = HandlerRegistry(
            handlers: [Self.app("a", ["com.example.edit"], team: composed)], opensPages: true)
        func opener(_ type: String, _ team: String?) -> HandlerDecision.Opener {
            registry.decide(Self.type(type), team: team, page: .none, running: []).opener
        }
        #expect(opener("com.example.edit", composed) != .nothing)
        #expect(opener("com.example.edit", decomposed) == .nothing)
        #expect(opener("com.example.edit", nil) == .nothing)
        #expect(opener("com.example.Edit", composed) == .nothing)
        let without = HandlerRegistry(handlers: [Self.app("a", ["com.example.edit"])], opensPages: true)
        #expect(
            without.decide(Self.edit, team: "T", page: .none, running: []).reason == .otherTeam(Self.edit, app: "The a")
        )
    }

    @Test func `web pages are independent of teams, and an app that claims the site comes first`() {
        let browser = Self.app("browser", [ActivityType.browsingWeb.text], team: "B")
        let shop = Self.app("shop", [], domains: ["shop.example", "*.shop.example"])
        let registry = HandlerRegistry(handlers: [browser, shop], opensPages: true)
        func opener(_ page: HandlerRegistry.Page) -> HandlerDecision.Opener {
            registry.decide(.browsingWeb, team: "other", page: page, running: []).opener
        }
        #expect(opener(.none) == .launch(browser))
        #expect(opener(.unknown) == .page)
        #expect(opener(.at("https://shop.example/1")) == .launch(shop))
        #expect(opener(.at("https://www.SHOP.example:8443/1")) == .launch(shop))
        #expect(opener(.at("https://notshop.example/1")) == .launch(browser))
        #expect(opener(.at("https://shop.example.evil.example/")) == .launch(browser))
    }

    @Test func `an app for the type comes first, then one that claims the site, then the browser`() {
        let editor = Self.app("editor", ["com.example.edit"])
        let site = Self.app("site", [], domains: ["d.example"])
        let registry = HandlerRegistry(handlers: [editor, site], opensPages: true)
        let page = HandlerRegistry.Page.at("https://d.example/x")
        #expect(registry.decide(Self.edit, team: nil, page: page, running: []).opener == .launch(editor))
        let other = Self.type("com.example.other")
        #expect(registry.decide(other, team: nil, page: page, running: []).opener == .launch(site))
        let active = [Self.running("site", [], order: 5)]
        #expect(registry.decide(other, team: nil, page: page, running: active).opener == .running(session: "s5"))
        #expect(registry.decide(other, team: nil, page: .unknown, running: []).opener == .page)
        let elsewhere = registry.decide(other, team: nil, page: .at("http://e.example"), running: [])
        #expect(elsewhere == HandlerDecision(.browser, .hasPage))
        #expect(registry.decide(other, team: nil, page: .at("file:///etc/passwd"), running: []).reason == .badPage)
        #expect(registry.decide(other, team: nil, page: .none, running: []).reason == .noApp(other))
    }

    @Test func `a disabled app is never chosen, and named as the reason`() {
        let editor = Self.app("editor", ["com.example.edit"], domains: ["d.example"])
        let registry = HandlerRegistry(
            handlers: [editor], disabled: [Self.id("editor"), Self.id("tool")], opensPages: true)
        let active = [Self.running("tool", ["com.example.edit"])]
        let decision = registry.decide(Self.edit, team: nil, page: .none, running: [])
        #expect(decision == HandlerDecision(.nothing, .disabled(app: "The editor")))
        #expect(registry.decide(Self.edit, team: nil, page: .none, running: active).reason == .disabled(app: "tool"))
        #expect(registry.decide(Self.edit, team: nil, page: .at("https://d.example/"), running: []).opener == .browser)
    }

    @Test func `the first of two files with the same id counts`() {
        let first = Self.app("a", ["com.example.edit"], installed: 1)
        let registry = HandlerRegistry(
            handlers: [first, Self.app("a", ["com.example.edit"], installed: 9)], opensPages: true)
        #expect(registry.handlers == [first])
    }

    @Test(arguments: [
        ("https://Example.ORG/a b", nil), ("https://example.org/ä?ö#ü", "https://example.org/%C3%A4?%C3%B6#%C3%BC"),
        ("HTTPS://example.org:443", "HTTPS://example.org:443"),
        ("https://example.org/`x`\"<>|^{}'$(id)", "https://example.org/%60x%60%22%3C%3E%7C%5E%7B%7D%27%24(id)"),
        ("https://[2001:db8::1]/", "https://[2001:db8::1]/"), ("https://exa$(x)mple.org/", nil),
        ("https://a'b.org/", nil),
        ("-https://a/", nil),
        ("javascript:alert(1)", nil), ("file:///etc/passwd", nil), ("https://u:p@example.org/", nil), ("https://", nil),
        ("https:///x", nil), ("https://a\u{0}b.org/", nil), ("ftp://a/", nil), ("", nil),
    ])
    func `a page becomes one harmless argument, or nil`(url: String, argument: String?) {
        #expect(WebPage(url)?.argument == argument)
    }

    @Test(arguments: [
        ("https://Example.ORG./", "example.org"), ("https://[2001:db8::1]/", nil),
        ("https://xn--bcher-kva.example/", "xn--bcher-kva.example"),
        ("https://bücher.example/", nil), ("http://a.b:80?x", "a.b"),
    ])
    func `the host of a page is in lower case and ASCII, or nil`(url: String, host: String?) throws {
        #expect(try #require(WebPage(url)).host == host)
    }

    // MARK: - The user's choice for one activity

    @Test func `the choices are the enabled apps that continue the type, running or installed, each once`() {
        let registry = HandlerRegistry(
            handlers: [
                Self.app("a", ["com.example.edit"]), Self.app("b", ["com.example.edit"]),
                Self.app("off", ["com.example.edit"]), Self.app("team", ["com.example.edit"], team: "T"),
                Self.app("other", ["com.example.view"]),
            ], disabled: [Self.id("off")], opensPages: true)
        let running = [
            Self.running("b", ["com.example.edit"]), Self.running("attached", ["com.example.edit"], order: 2),
            Self.running("attached", ["com.example.edit"], order: 3), Self.running("", ["com.example.edit"], order: 4),
        ]
        let choices = registry.choices(Self.edit, team: nil, running: running)
        #expect(choices.map(\.app) == ["a", "b", "attached"])
        #expect(choices.map(\.name) == ["The a", "The b", "attached"])
        #expect(registry.declares(Self.edit, running: []))
        #expect(!registry.declares(Self.type("com.example.none"), running: running))
    }

    @Test func `a chosen app opens the activity although another one runs, and otherwise the reason is given`() {
        let apps = [
            Self.app("a", ["com.example.edit"]), Self.app("off", ["com.example.edit"]),
            Self.app("team", ["com.example.edit"], team: "T"), Self.app("other", ["com.example.view"]),
        ]
        let registry = HandlerRegistry(handlers: apps, disabled: [Self.id("off")], opensPages: true)
        let running = [Self.running("b", ["com.example.edit"])]
        func decide(_ app: String) -> HandlerDecision? {
            registry.decide(Self.edit, team: nil, by: app, running: running)
        }
        #expect(decide("a") == HandlerDecision(.launch(apps[0]), name: "The a", .chosen))
        #expect(decide("b") == HandlerDecision(.running(session: "s1"), name: "b", .running))
        #expect(decide("off")?.reason == .disabled(app: "The off"))
        #expect(decide("team")?.reason == .otherTeam(Self.edit, app: "The team"))
        #expect(decide("other")?.words == "The other does not continue com.example.edit")
        for unknown in ["", "none", "-a", "../a", "/usr/share/applications/a.desktop", "a\0", "a b"] {
            #expect(decide(unknown) == nil, "\(unknown)")
        }
    }

    // MARK: - Ids in AppStream

    @Test func `an activity type may belong to the apps whose ids it begins with`() {
        func ids(_ type: String) -> [String] { ComponentID.candidates(for: Self.type(type)).map(\.text) }
        #expect(ids("org.gnome.TextEditor.editing") == ["org.gnome.TextEditor"])
        #expect(
            ids("io.github.user.App.edit.page") == [
                "io.github.user.App.edit", "io.github.user.App", "io.github.user",
            ])
        #expect(ids("a.b.c.d.e.f.g") == ["a.b.c.d.e.f", "a.b.c.d.e", "a.b.c.d"])
        for type in [
            "com.example.edit", "edit", "....", "a..b.c.d", "-a.b.c.d", ".a.b.c.d", "a/../b.c.d.e", "--help.b.c.d",
            "$(id).b.c.d", "a.b.c;d.e",
        ] {
            #expect(ids(type) == [], "\(type)")
        }
        #expect(ids("a.b.c/d.e.f") == [], "the id of an app has no slash")
    }

    @Test func `an id of a component cannot be an option, a path, or part of another address`() {
        for text in ["", "-x", "--help", ".x", "..", "a/b", "/etc", "a b", "a?b", "a#b", "a%2f", "é", "a\n", "a\0"] {
            #expect(ComponentID(text) == nil, "\(text)")
        }
        #expect(ComponentID(String(repeating: "a", count: 256)) == nil)
        #expect(ComponentID("firefox_firefox.desktop")?.text == "firefox_firefox.desktop")
    }
}
