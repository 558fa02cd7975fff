import HandoffModel
import Testing

@testable import HandoffHandlers

/// Attacks through the values that another device may send. `docs/hostile-activities.md` has the
/// same rows.
struct HostileActivityTests {
    /// An app of each kind that could be attacked, with its declared type and site.
    private static func registry() -> HandlerRegistry {
        func app(_ id: String, _ types: [String], team: String? = nil, domains: [String] = []) -> Handler {
            guard let id = AppID(id) else { fatalError("the id is valid") }
            return Handler(
                id: id, name: "App", types: Set(types.compactMap { ActivityType($0) }), team: team,
                domains: domains.compactMap { DomainClaim($0) }, launch: .command(["/bin/true"]), path: "/h/\(id).json",
                installed: 1)
        }
        return HandlerRegistry(
            handlers: [
                app("editor", ["com.example.edit"], team: "TEAM"), app("plain", ["com.example.plain"]),
                app("bank", [], domains: ["bank.example", "*.bank.example"]),
            ], opensPages: true)
    }

    @Test(arguments: [
        "-x", "--", "--help", "../../../etc/passwd", "/etc/passwd", "com.example.edit;id", "$(id)", "`id`", "${HOME}",
        "%f", "%U", "%i", "a=b", "a\"b", "a'b", "*", "~root", "file:///etc/passwd", "com.example.EDIT",
        "com.example.edit.",
    ])
    func `a type is only compared with declared types`(text: String) throws {
        let type = try #require(ActivityType(text))
        let decision = Self.registry().decide(type, team: "TEAM", page: .none, running: [])
        #expect(decision == HandlerDecision(.nothing, .noApp(type)))
    }

    @Test(arguments: [
        "", "team", "TEAM ", " TEAM", "TEAM\n", "TEAM\u{0}", "TEAM\u{200B}", "TE\u{202E}MA", "ＴＥＡＭ", "*", "TEAM;OTHER",
        String(repeating: "T", count: 255),
    ])
    func `a team that differs from the app's in any byte opens nothing`(team: String) throws {
        let type = try #require(ActivityType("com.example.edit"))
        #expect(Self.registry().decide(type, team: team, page: .none, running: []).opener == .nothing)
        let plain = try #require(ActivityType("com.example.plain"))
        #expect(Self.registry().decide(plain, team: team, page: .none, running: []).opener == .nothing)
    }

    @Test(arguments: [
        "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "file://localhost/etc/passwd", "ftp://a/",
        "vbscript:x", "x-handoff:y", "about:blank", "view-source:https://a/", "intent://a/#Intent;end",
        "mailto:a@b", "ssh://a/", "smb://a/", "--proxy-server=http://evil/", "-https://a/", " https://a/",
        "https:a", "https:/a", "https:\\\\a\\", "//a/", "/etc/passwd", "~/x", "https", "https://", "https:///etc",
        // Hosts that parsers read differently.
        "https://user:pass@bank.example/", "https://bank.example@evil.example/", "https://bank.example%40evil.example/",
        "https://bank.example\\@evil.example/", "https://evil.example\\.bank.example/", "https://bank.example:80:81/",
        "https://bank.example:99999/", "https://[::1", "https://[fe80::1%25eth0]/", "https://[::1].bank.example/",
        // Characters that become URL syntax when normalised (U+FF0F a slash, U+FF20 an at sign,
        // U+2100 a/c, …).
        "https://evil.example\u{FF0F}.bank.example/", "https://evil.example\u{FF1F}.bank.example/",
        "https://evil.example\u{FF03}.bank.example/", "https://bank.example\u{FF20}evil.example/",
        "https://bank.example\u{FF1A}80/", "https://evil.\u{2100}.bank.example/", "https://a\u{FF05}2e.example/",
        "https://bank\u{3002}example/", "https://bank\u{FF0E}example/", "https://evil.example\u{2044}.bank.example/",
        // Invisible characters.
        "https://ba\u{200D}nk.example/", "https://ba\u{200B}nk.example/", "https://bank.example\u{202E}/",
        "https://bank.example/\u{202E}fdp.exe", "https://ba\u{AD}nk.example/", "https://ba\u{3164}nk.example/",
        // A request that restarts a router, and other machines on the network.
        "http://192.168.1.1/apply.cgi?reboot=1", "http://router.lan/", "http://localhost:631/", "http://[fe80::1]/",
        "http://0x7f.1/", "http://2130706433/", "http://nas/", "http://127.0.0.\u{FF11}/", "http://a.\u{2113}ocal/",
        // Line ends, terminators and additional words.
        "https://a.example/\n--help", "https://a.example/\r\nHost: b", "https://a.example/\u{0}",
        "https://a.example/ --help", "https://a.example/\t",
        "https://a.example/\u{1B}[2J", "https://a.example/\u{9B}2J", "https://a b.example/", "https://$(id).example/",
        "https://`id`.example/",
        "https://a'b.example/", "https://a\"b.example/", "https://a;b.example/", "https://a&b.example/",
        "https://a|b.example/", "https://a*.example/",
        "https://{a,b}.example/",
        "https://%00/", "https://%f/",
    ])
    func `an address that is not just a page's is not opened`(url: String) throws {
        #expect(WebPage(url) == nil)
        let type = try #require(ActivityType("com.example.other"))
        let decision = Self.registry().decide(type, team: nil, page: .at(url), running: [])
        #expect(decision == HandlerDecision(.nothing, .badPage))
    }

    @Test(arguments: [
        ("https://a.example/$(id)`id`${HOME}", "https://a.example/%24(id)%60id%60%24%7BHOME%7D"),
        ("https://a.example/'\"<>|^", "https://a.example/%27%22%3C%3E%7C%5E"),
        // Sequences for Exec, printf and percent-decoding are kept: browsers need them, and nothing
        // expands them.
        ("https://a.example/%f%U%i%s%n%00%0a", "https://a.example/%f%U%i%s%n%00%0a"),
        ("https://a.example/--help", "https://a.example/--help"),
        ("https://a.example#--help", "https://a.example#--help"),
        ("https://a.example/../../etc/passwd", "https://a.example/../../etc/passwd"),
        ("https://a.example/;touch%20x", "https://a.example/;touch%20x"),
        ("https://a.example/?x=javascript:alert(1)", "https://a.example/?x=javascript:alert(1)"),
        ("https://a.example/日本", "https://a.example/%E6%97%A5%E6%9C%AC"),
        ("https://日本.example/", "https://日本.example/"),
        ("https://a.example/e\u{301}", "https://a.example/e%CC%81"),
        ("HtTpS://A.example:8443/", "HtTpS://A.example:8443/"),
        ("https://xn--80ak6aa92e.com/", "https://xn--80ak6aa92e.com/"),
        ("https://[2001:db8::1]:1/", "https://[2001:db8::1]:1/"), ("https://192.0.2.1/", "https://192.0.2.1/"),
    ])
    func `a page is one argument that starts with its scheme, without shell syntax`(
        url: String, argument: String
    ) throws {
        let page = try #require(WebPage(url))
        #expect(Array(page.argument.utf8) == Array(argument.utf8))
        #expect(page.argument.lowercased().hasPrefix("https://"))
        #expect(!page.argument.utf8.contains { $0 <= 0x20 || $0 == 0x7F || "$`'\"\\<>|^{}".utf8.contains($0) })
    }

    @Test(arguments: [
        "https://bank.example.evil.example/", "https://notbank.example/", "https://bank.example.:80.evil.example/",
        "https://b\u{430}nk.example/", "https://xn--bnk-5cd.example/", "https://ｂａｎｋ.example/", "https://bank-example/",
        "https://evil.example/bank.example", "https://evil.example?bank.example", "https://evil.example#@bank.example/",
        "https://[::1]/bank.example", "https://ba%6Ek.example/", "https://bank.exampl\u{E9}/",
    ])
    func `another site is not mistaken for the claimed one`(url: String) throws {
        let type = try #require(ActivityType("com.example.other"))
        let opener = Self.registry().decide(type, team: nil, page: .at(url), running: []).opener
        #expect(opener == (WebPage(url) == nil ? .nothing : .browser))
    }

    @Test func `a hostile app id, type or site in a file does not become part of a path, a unit or a command`() throws {
        for text in ["../a", "a/b", "-x", "a\nb", "a b", "$x", "a%i", "a;b", "a=b", "a\"b", "a\\b", "a`b", "\u{202E}a"]
        {
            #expect(AppID(text) == nil)
        }
        // For any id, the unit named after it stays a single file name.
        let id = try #require(AppID("a&b|c>d<e(f)*?[g]{h}~!#@,:^"))
        let unit = AppUnit.name(for: id, random: "0")
        #expect(
            unit
                == #"app-handoff-a\x26b\x7cc\x3ed\x3ce\x28f\x29\x2a\x3f\x5bg\x5d\x7bh\x7d\x7e\x21\x23\x40\x2c:\x5e-0.service"#
        )
        #expect(AppUnit.app(inUnit: unit) == id)
    }
}
