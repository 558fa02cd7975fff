import HandoffControl
import HandoffHandlers
import HandoffJSON
import Testing

@testable import HandoffBrowser

/// Positions on pages, and the pages that are offered.
struct PageTests {
    private static func allows(_ url: String, _ conf: String = "", container: String? = nil) -> Bool {
        rules(conf).allows(FrontPage(url: url, title: "", container: container))
    }

    private static func rules(_ conf: String) -> PageRules {
        PageRules(exclusions: PageExclusions(["browser.conf"]) { _ in Array(conf.utf8) })
    }

    private static func problems(_ conf: String) -> [String] { rules(conf).exclusions.problems.map(\.description) }

    @Test(arguments: [
        "https://example.org/", "http://shop.example:8080/a?b#c", "https://8.8.8.8/", "https://[2001:db8::1]/",
        "https://xn--bcher-kva.example/", "https://localhost.example/", "https://172.15.0.1/", "https://100.128.0.1/",
    ])
    func `a web page is offered`(url: String) {
        #expect(Self.allows(url))
    }

    @Test(arguments: [
        "about:blank", "file:///etc/passwd", "chrome://version/", "moz-extension://x/", "data:text/html,x",
        "javascript:1",
        "blob:https://example.org/x", "view-source:https://example.org/", "https://user:secret@example.org/",
        "https://", "",
    ])
    func `an address that is not a web page is not offered`(url: String) {
        #expect(!Self.allows(url))
    }

    @Test(arguments: [
        "http://localhost/", "http://LOCALHOST./", "http://printer/", "http://127.0.0.1:8080/", "http://0.0.0.0/",
        "http://10.1.2.3/", "http://172.16.0.1/", "http://172.31.255.255/", "http://192.168.1.1/",
        "http://169.254.1.1/",
        "http://100.64.0.1/", "http://224.0.0.1/", "http://255.255.255.255/", "http://[::1]/", "http://[fe80::1]/",
        "http://[fd00::1]/", "http://[::ffff:10.0.0.1]/", "http://nas.local/", "http://a.b.internal/",
        "http://x.home.arpa/",
        "http://app.localhost:3000/", "http://router.lan/", "http://1.2.3/", "http://256.1.1.1/", "http://1.2.3.4.5/",
    ])
    func `an address with another meaning elsewhere is not offered`(url: String) {
        #expect(!Self.allows(url))
    }

    @Test(arguments: [
        // Capital letters, the final dot, any port, the scheme.
        ("bank.example", "https://bank.example/login"), ("BANK.Example", "https://bank.example./login"),
        ("bank.example.", "http://bank.example:8080/"), ("https://Bank.Example", "http://bank.example/"),
        ("http://bank.example/", "https://bank.example/x"), ("HTTPS://bank.example", "https://bank.example/"),
        // Ports.
        ("bank.example:8443", "https://bank.example:8443/"), ("https://bank.example:443/", "https://bank.example/"),
        ("bank.example:80", "http://bank.example/"), ("*.bank.example:8443", "https://a.bank.example:8443/"),
        // Paths in any spelling.
        ("example.org/private", "https://example.org/private/1"),
        ("https://example.org/Private/", "https://example.org/private/1"),
        ("https://example.org/private/", "https://example.org/PRIVATE/1"),
        ("example.org?id=", "https://example.org/?id=7"),
        ("example.org/tägebuch/", "https://example.org/t%C3%A4gebuch/1"),
        ("example.org/a%2fb", "https://example.org/a%2Fb"),
        ("example.org/%74est", "https://example.org/test"), ("example.org/#/mail", "https://example.org/#/mail/1"),
        ("*.example.org/x", "https://a.b.example.org/x/y"),
        // A bracket in a query does not make the host an IPv6 address.
        ("bank.example", "https://bank.example/?next=https://[2001:db8::1]/"),
        // Non-ASCII names.
        ("bücher.example", "https://xn--bcher-kva.example/"), ("BÜCHER.example", "https://xn--bcher-kva.example/"),
        ("https://bücher.example:8443/ä", "https://xn--bcher-kva.example:8443/%C3%A4"),
        ("*.bücher.example", "https://a.xn--bcher-kva.example/"), ("straße.example", "https://xn--strae-oqa.example/"),
        ("пример.рф", "https://xn--e1afmkfd.xn--p1ai/"), ("例え.テスト", "https://xn--r8jz45g.xn--zckzah/"),
        ("faß.de", "https://xn--fa-hia.de/"), ("ثبت.ایران", "https://xn--ngbeb.xn--mgba3a4f16a/"),
        // Comments, blanks, line ends, a byte order mark.
        ("bank.example # the bank", "https://bank.example/"), ("\tbank.example\t#\tx", "https://bank.example/"),
        ("# c\r\n\r\nbank.example\r\n", "https://bank.example/"), ("\u{FEFF}bank.example", "https://bank.example/"),
        ("*.example", "https://bank.example/"),
    ])
    func `a page is excluded in any usual spelling`(conf: String, url: String) {
        #expect(Self.problems(conf).isEmpty)
        #expect(!Self.allows(url, conf))
        #expect(Self.allows("https://other.test/", conf))
    }

    @Test(arguments: [
        ("bank.example", "https://www.bank.example/"), ("bank.example", "https://notbank.example/"),
        ("*.mail.example", "https://mail.example/"), ("bank.example:8443", "https://bank.example/"),
        ("https://bank.example:8443", "https://bank.example:8444/"),
        ("example.org/private", "https://example.org/public"),
        ("https://example.org/private/", "https://example.org/private"), ("bank.example", "https://[2001:db8::1]/"),
        ("# bank.example", "https://bank.example/"), ("", "https://bank.example/"),
    ])
    func `a page that is not excluded is offered`(conf: String, url: String) {
        #expect(Self.problems(conf).isEmpty)
        #expect(Self.allows(url, conf))
    }

    @Test func `a container is excluded by its name, and every page while containers are unknown`() {
        let conf = "Container Firefox-Container-3 # the shop\n"
        #expect(Self.problems(conf).isEmpty)
        #expect(!Self.allows("https://example.org/", conf, container: "firefox-container-3"))
        #expect(Self.allows("https://example.org/", conf, container: "firefox-container-2"))
        #expect(Self.allows("https://example.org/", conf))
        #expect(!Self.allows("https://example.org/", conf, container: PageExclusions.unknownContainer))
        #expect(Self.allows("https://example.org/", "bank.example", container: PageExclusions.unknownContainer))
        let rules = Self.rules(conf)
        #expect(rules.problem(isContainerUnknown: false) == nil)
        #expect(rules.problem(isContainerUnknown: true)?.contains("Identify Containers") == true)
    }

    @Test(arguments: [
        "ftp://x.example/", "a b c", "container", "container Personal", "container 3",
        "container firefox-container-3 x",
        "container firefox-", "\u{FFFD}", "https://", "*", "*.", "a.*.example", "https://user@bank.example/",
        "bank..example",
        "bank.example:x", "bank.example:99999", "/private", "bank.example\\x", "[2001:db8::1]", "bu\u{308}cher.example",
        "ｂank.example", "bank.exa%6dple",
    ])
    func `with a line that is not a site, an address or a container, no page is offered, and the line is named`(
        line: String
    ) {
        let conf = "good.example\n# a comment\n\(line)\n"
        #expect(Self.problems(conf).map { $0.hasPrefix("browser.conf, line 3: ") } == [true], "\(Self.problems(conf))")
        #expect(!Self.allows("https://other.test/", conf))
        #expect(Self.rules(conf).problem(isContainerUnknown: false)?.contains("browser.conf, line 3") == true)
    }

    @Test func `if a file cannot be read, no page is offered, and the file is named`() {
        struct Denied: Error, CustomStringConvertible { let description = "permission denied" }
        let rules = PageRules(
            exclusions: PageExclusions(["/a", "/b"]) { path in
                if path == "/b" { throw Denied() }
                return nil
            })
        #expect(!rules.allows(FrontPage(url: "https://example.org/", title: "")))
        #expect(rules.problem(isContainerUnknown: false)?.contains("/b: cannot read it: permission denied") == true)
        let none = PageRules(exclusions: PageExclusions(["/a"]) { _ in nil })
        #expect(none.allows(FrontPage(url: "https://example.org/", title: "")))
    }

    @Test func `a title is cut at a character to the limit of activities`() {
        let page = FrontPage(url: "https://example.org/", title: String(repeating: "ü", count: 2000))
        #expect(page.title.utf8.count == 1024)
        #expect(
            FrontPage(url: "https://example.org/", title: "ü" + String(repeating: "€", count: 341)).title.utf8.count
                == 1022)
        #expect(FrontPage(url: "u", title: "").activity.title == nil)
    }

    @Test func `a position can be read again`() {
        let place = PagePlace(
            reading: .init(words: "first words", offset: -12.5), ratio: 0.25, media: .init(time: 42, isPlaying: true))
        #expect(PagePlace(json: place.json) == place)
        #expect(PagePlace(json: ["ratio": 1]) == PagePlace(ratio: 1))
    }

    @Test func `a position in a box can be read again, without values out of range`() {
        let place = PagePlace(
            reading: .init(words: "first", offset: 1, paragraph: 5, copy: .init(index: 2, count: 3)), ratio: 0.25,
            height: 40_000, box: "1/0/f/12")
        #expect(PagePlace(json: place.json) == place)
        let wrong: [JSONObject] = [
            ["box": "html"], ["box": "1//2"], ["box": ""],
            ["box": .string("1" + String(repeating: "/1", count: 200))],
            ["box": "-1"], ["height": -1], ["height": 1e300], ["paragraph": 0], ["paragraph": 1e300], ["copy": 1],
            ["copy": 2, "copies": 2], ["copy": -1, "copies": 2], ["copy": 0, "copies": 1],
        ]
        let usual = PagePlace(reading: .init(words: "first", offset: 1), ratio: 0.5)
        for more in wrong {
            var json: JSONObject = ["words": "first", "offset": 1, "ratio": 0.5]
            for (key, value) in more { json[key] = value }
            #expect(PagePlace(json: json) == usual, "\(more)")
        }
    }

    @Test(
        arguments: [
            [:], ["words": ""], ["words": 7, "offset": 1], ["words": "a"], ["words": "a", "offset": 1e300],
            ["ratio": 1.1],
            ["ratio": "1"], ["time": -1], ["time": 1e300], ["playing": true],
            ["words": .string(String(repeating: "x", count: PagePlace.maxWords + 1)), "offset": 0],
        ] as [JSONObject])
    func `a position with only values out of range is nil`(json: JSONObject) {
        #expect(PagePlace(json: json) == nil)
    }

    @Test func `only pages of a list of tabs are read, within the limits for sending`() {
        let tab: JSON = ["title": "A", "url": "https://example.org/"]
        let list: JSON = [tab, ["url": "javascript:1"], 7, ["title": "B"], ["title": 7, "url": "https://b.example/"]]
        #expect(OpenTab.list(list).map(\.title) == ["A", ""])
        #expect(OpenTab.list(.array(Array(repeating: tab, count: OpenTab.maxTabs + 1))).count == OpenTab.maxTabs)
        #expect(OpenTab.list(nil).isEmpty)
        let long: JSON = ["title": "A", "url": .string("https://example.org/" + String(repeating: "x", count: 2000))]
        let cut = OpenTab.list(.array(Array(repeating: long, count: OpenTab.maxTabs)))
        #expect(OpenTab.json(cut).encoded().count < OpenTab.maxList)
        #expect(cut.count > 300)
    }
}
