import HandoffBrowser
import HandoffControl
import HandoffJSON
import Testing

/// Places on pages, and which pages are offered.
struct PageTests {
    private static func allows(_ url: String, _ conf: String = "", container: String? = nil) -> Bool {
        PageRules(exclusions: PageExclusions(parsing: Array(conf.utf8)))
            .allows(FrontPage(url: url, title: "", container: container))
    }

    @Test(arguments: [
        "https://example.org/", "http://shop.example:8080/a?b#c", "https://8.8.8.8/", "https://[2001:db8::1]/",
        "https://xn--bcher-kva.example/", "https://localhost.example/", "https://172.15.0.1/", "https://100.128.0.1/",
    ])
    func `a page of the web is offered`(url: String) {
        #expect(Self.allows(url))
    }

    @Test(arguments: [
        "about:blank", "file:///etc/passwd", "chrome://version/", "moz-extension://x/", "data:text/html,x",
        "javascript:1",
        "blob:https://example.org/x", "view-source:https://example.org/", "https://user:secret@example.org/",
        "https://", "",
    ])
    func `what is no page of the web is not offered`(url: String) {
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
    func `an address that means something else elsewhere is not offered`(url: String) {
        #expect(!Self.allows(url))
    }

    @Test func `sites, beginnings of addresses and containers are excluded, and nothing else`() {
        let conf =
            "# The bank\n\nbank.example\r\n*.mail.example \nhttps://example.org/private/\ncontainer firefox-container-3\n"
        #expect(!Self.allows("https://bank.example/login", conf))
        #expect(!Self.allows("https://BANK.example./login", conf))
        #expect(Self.allows("https://www.bank.example/login", conf))
        #expect(!Self.allows("https://a.mail.example/", conf))
        #expect(Self.allows("https://mail.example/", conf))
        #expect(!Self.allows("https://example.org/private/1", conf))
        #expect(Self.allows("https://example.org/public", conf))
        #expect(!Self.allows("https://example.org/", conf, container: "firefox-container-3"))
        #expect(Self.allows("https://example.org/", conf, container: "firefox-container-2"))
        #expect(PageExclusions(parsing: Array(conf.utf8)).problems.isEmpty)
    }

    @Test func `a line that means nothing is told by its number`() {
        let conf = "bank.example\nftp://x/\na b c\ncontainer\n*.example\n\u{FFFD}\nhttps://"
        #expect(PageExclusions(parsing: Array(conf.utf8)).problems == [2, 3, 4, 5, 6, 7])
    }

    @Test func `a title is cut at a character, to what an activity may have`() {
        let page = FrontPage(url: "https://example.org/", title: String(repeating: "ü", count: 2000))
        #expect(page.title.utf8.count == 1024)
        #expect(
            FrontPage(url: "https://example.org/", title: "ü" + String(repeating: "€", count: 341)).title.utf8.count
                == 1022)
        #expect(FrontPage(url: "u", title: "").activity.title == nil)
    }

    @Test func `a place is read as it was written`() {
        let place = PagePlace(
            reading: .init(words: "first words", offset: -12.5), ratio: 0.25, media: .init(time: 42, isPlaying: true))
        #expect(PagePlace(json: place.json) == place)
        #expect(PagePlace(json: ["ratio": 1]) == PagePlace(ratio: 1))
    }

    @Test func `a place in a box is read as it was written, without values out of their range`() {
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
            ["words": .string(String(repeating: "x", count: PagePlace.longestWords + 1)), "offset": 0],
        ] as [JSONObject])
    func `what is out of its range is no place`(json: JSONObject) {
        #expect(PagePlace(json: json) == nil)
    }

    @Test func `of a list of tabs only pages are taken, and no more than travel`() {
        let tab: JSON = ["title": "A", "url": "https://example.org/"]
        let list: JSON = [tab, ["url": "javascript:1"], 7, ["title": "B"], ["title": 7, "url": "https://b.example/"]]
        #expect(OpenTab.list(list).map(\.title) == ["A", ""])
        #expect(OpenTab.list(.array(Array(repeating: tab, count: OpenTab.most + 1))).count == OpenTab.most)
        #expect(OpenTab.list(nil).isEmpty)
        let long: JSON = ["title": "A", "url": .string("https://example.org/" + String(repeating: "x", count: 2000))]
        let cut = OpenTab.list(.array(Array(repeating: long, count: OpenTab.most)))
        #expect(OpenTab.json(cut).encoded().count < OpenTab.longestList)
        #expect(cut.count > 300)
    }
}
