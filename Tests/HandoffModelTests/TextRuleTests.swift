import HandoffModel
import Testing

struct ActivityTypeTests {
    @Test(arguments: [
        "a", "com.example.edit", "NSUserActivityTypeBrowsingWeb", "!~", String(repeating: "x", count: 255),
    ])
    func `visible ASCII is a valid type`(text: String) {
        #expect(ActivityType(text)?.text == text)
    }

    @Test(arguments: [
        "", "a b", "a\tb", "a\n", "\u{0}", "a\u{7F}", "a\u{85}", "a\u{A0}b", "a\u{2028}", "a\u{202E}b", "\u{FEFF}a",
        "a\u{200D}", "a\u{3164}", "a\u{34F}b", "caf\u{E9}", "cafe\u{301}", "日本", "com.example.edi\u{442}",
        String(repeating: "x", count: 256),
    ])
    func `a text that is not visible ASCII or is too long is not a type`(text: String) {
        #expect(ActivityType(text) == nil)
    }

    @Test func `the type of web pages is recognized by its text`() {
        #expect(ActivityType("NSUserActivityTypeBrowsingWeb") == .browsingWeb)
    }
}

struct WebURLTests {
    @Test(arguments: [
        "http://a.example", "https://example.com", "HTTPS://Example.com/Path?q=1#f", "https://example.com:8443/",
        "http://[2001:db8::1]/", "http://[2001:db8::1]:80/x", "http://[2400:cb00:2048:1::1]/", "http://192.0.2.1",
        "https://8.8.8.8/", "https://172.15.0.1/", "https://172.32.0.1/", "https://100.128.0.1/", "https://11.0.0.1/",
        "https://[2002:808:808::1]/", "https://example.com/a@b", "https://example.com?x=a@b",
        "https://exämple.com/ü", "https://EXÄMPLE.com/", "https://straße.example/", "https://пример.рф/",
        "https://example.com:/", "https://example.com/%40", "https://example.com./", "https://localhost.example/",
        "https://lan.example/", "https://0x7f.example/", "https://1.example/", "https://a.notlocal/",
    ])
    func `a public web page is accepted`(text: String) {
        #expect(WebURL.isAcceptable(text))
    }

    @Test(arguments: [
        "", "http:", "http://", "https:///path", "http:///", "https://:80", "https://?q", "ftp://a",
        "file:///etc/passwd",
        "javascript:alert(1)", "//example.com", "example.com", "-https://a", " https://a", "https://a b", "https://a\n",
        "https://user@a", "https://user:pass@a", "https://a@", "https://a\\@b", "https://a%40b", "https://a:99999",
        "https://a:-1", "https://a:+1", "https://a:8x", "http://[::1", "http://[]", "http://[x]", "http://[::1]x",
        "http://a]",
        "https://a\u{202E}b", "https://a/\u{0}", "https://a/\u{85}", "http\u{73}\u{301}://a", "https:/a",
    ])
    func `an address that is unsafe for a browser is rejected`(text: String) {
        #expect(!WebURL.isAcceptable(text))
    }

    @Test(arguments: [
        // Names that are resolved on this machine or in its network.
        "localhost", "LOCALHOST.", "a.localhost", "printer", "nas.local", "nas.LOCAL", "a.b.internal", "x.home.arpa",
        "router.lan",
        "x.localdomain", "x.corp", "x.home", "local", "..", "a..example", ".example",
        // Non-public IPv4 addresses, in all spellings that browsers accept.
        "0.0.0.0", "10.1.2.3", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.1", "169.254.169.254", "172.16.0.1",
        "172.31.255.255", "192.168.1.1", "192.168.1.1.", "224.0.0.1", "255.255.255.255", "2130706433", "0x7f000001",
        "017700000001", "0x7f.1", "0177.0.0.1", "127.0.0.0x1", "0xC0.0xA8.1.1", "192.168.257", "1.2.3", "256.1.1.1",
        "1.2.3.4.5",
        "1.2.3.08", "8.8.8.0x", "8.8.8.0X8",
        // Non-public IPv6 addresses, and those that embed IPv4.
        "[::]", "[::1]", "[fe80::1]", "[fc00::1]", "[fd12:3456::1]", "[ff02::1]", "[::ffff:10.0.0.1]",
        "[::ffff:7f00:1]",
        "[::ffff:8.8.8.8]", "[64:ff9b::a00:1]", "[2002:c0a8:101::1]", "[2002:7f00::]", "[2001::1]", "[2001:0:4136::1]",
        // Characters that change when a browser normalises the host.
        "１２７.0.0.1", "127.0.0.１", "nas.ｌocal", "a.\u{2113}ocal", "nas\u{3002}local", "a.nas\u{FF0E}local",
        "a.nas\u{FF61}lan",
        "ｌocalhost",
    ])
    func `a host that depends on the network or is not on the Internet is rejected`(host: String) {
        for url in ["http://\(host)/apply.cgi?reboot=1", "https://\(host):8443", "HTTP://\(host)?x#y"] {
            #expect(WebURL.problem(of: url) == .local, "\(url)")
            #expect(throws: ActivityError.self) {
                try ActivityContent(type: .browsingWeb, webpageURL: url).validate(maxPayload: Limits.payloadMaximum)
            }
        }
    }

    @Test func `the length is limited`() {
        let start = "https://a.example/"
        #expect(WebURL.isAcceptable(start + String(repeating: "x", count: 2048 - start.utf8.count)))
        #expect(!WebURL.isAcceptable(start + String(repeating: "x", count: 2049 - start.utf8.count)))
    }
}

struct VisibleTextTests {
    @Test(arguments: [
        ("plain é 日本", "plain é 日本"),
        ("a\u{1B}[31mb", "a\\u{1B}[31mb"),
        ("a\nb\u{7F}", "a\\u{A}b\\u{7F}"),
        ("\u{202E}abc\u{2066}", "\\u{202E}abc\\u{2066}"),
        ("\u{9B}x", "\\u{9B}x"),
        ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}"),
        ("👨\u{200D}👩\u{200D}👧", "👨\u{200D}👩\u{200D}👧"),
        // These are invisible, although they count as letters and marks.
        ("a\u{3164}\u{115F}\u{FFA0}b", "a\\u{3164}\\u{115F}\\u{FFA0}b"), ("a\u{34F}b\u{17B4}", "a\\u{34F}b\\u{17B4}"),
        ("\u{2764}\u{FE0F} \u{845B}\u{E0100}", "\u{2764}\u{FE0F} \u{845B}\u{E0100}"),
        ("", ""),
    ])
    func `invisible characters are escaped`(text: String, shown: String) {
        #expect(Array(VisibleText.escape(text).utf8) == Array(shown.utf8))
    }
}

struct DeviceKindTests {
    @Test(arguments: DeviceKind.allCases)
    func `a kind is restored from its name and number`(kind: DeviceKind) {
        #expect(DeviceKind(name: kind.name) == kind)
        #expect(DeviceKind(wire: kind.rawValue) == kind)
    }

    @Test(arguments: [
        ("laptop", DeviceKind.laptop), ("convertible", .laptop), ("handset", .phone), ("container", .vm), ("", .other),
        ("watch", .other), ("Laptop", .other),
    ])
    func `a chassis has a kind`(chassis: String, kind: DeviceKind) {
        #expect(DeviceKind(chassis: chassis) == kind)
    }

    @Test func `an unknown number is another kind and an unknown name is invalid`() {
        #expect(DeviceKind(wire: 7) == .other)
        #expect(DeviceKind(wire: 255) == .other)
        #expect(DeviceKind(name: "toaster") == nil)
    }
}

struct UUIDTextTests {
    @Test func `a UUID has exactly one text`() {
        let text = "01234567-89AB-CDEF-0123-456789ABCDEF"
        let bytes: [UInt8] = [
            0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF, 0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF,
        ]
        #expect(UUIDText.decode(text) == bytes)
        #expect(UUIDText.decode(text.lowercased()) == bytes)
        #expect(UUIDText.encode(bytes) == text)
    }

    @Test(arguments: [
        "", "0123456789ABCDEF0123456789ABCDEF", "01234567-89AB-CDEF-0123-456789ABCDE",
        "01234567-89AB-CDEF-0123-456789ABCDEG",
        "{01234567-89AB-CDEF-0123-456789ABCDEF}", "0123456-789AB-CDEF-0123-456789ABCDEF",
        "01234567-89AB-CDEF-0123-456789ABCD: ", "01234567-89AB-CDEF-0123-456789ABCDEF-",
    ])
    func `any other text is invalid`(text: String) {
        #expect(UUIDText.decode(text) == nil)
    }
}

struct HandoffFailureTests {
    @Test(arguments: [
        (4608, 4608), (4609, 4609), (4610, 4610), (4611, 4611), (3328, 3328), (0, 4608), (-1, 4608), (4612, 4608),
    ])
    func `a code is always one of Apple's`(given: Int, code: Int) {
        #expect(HandoffFailure(code: given, reason: "x", message: "y").code == code)
    }

    @Test func `text from another device is quoted, and known reasons get local wording`() {
        let lie = "Editor could not be started; run: sudo sh"
        func reported(_ reason: String, code: Int = 4610) -> HandoffFailure {
            HandoffFailure(code: code, reason: reason, message: lie).reported(by: "Mac")
        }
        #expect(reported("unknownActivity") == .unknownActivity(device: "Mac"))
        #expect(reported("paused") == .paused(device: "Mac"))
        #expect(reported("accountKeyMissing") == .accountKeyMissing(device: "Mac"))
        #expect(reported("accountKeyMissing").message == "Mac has not received the current account key yet")
        #expect(
            reported("tooLarge", code: 4611)
                == HandoffFailure(code: 4611, reason: "tooLarge", message: "Mac reported: \(lie)"))
        #expect(reported("later").message == "Mac reported: \(lie)")
        // Reasons that only this device can determine must not be reported by another one.
        for reason in [
            "notMember", "launchFailed", "noHandler", "handlerRefused", "cancelled", "invalidPayload", "continued",
            "given", "", "continued (12 times)", "a\nb", "É",
        ] {
            #expect(reported(reason) == .rejected(device: "Mac", cause: "it reported: \(lie)"))
        }
    }

    @Test func `each failure has its own reason and names the device`() {
        let failures: [HandoffFailure] = [
            .unknownActivity(device: "Mac"), .ownerGone(device: "Mac"), .peerUnreachable(device: "Mac", cause: "x"),
            .timedOut(device: "Mac"), .tooLarge(device: "Mac", bytes: 2, limit: 1),
            .rejected(device: "Mac", cause: "x"),
            .paused(device: "Mac"), .accountKeyMissing(device: "Mac"), .invalidPayload(device: "Mac", cause: "x"),
            .streamsUnsupported(device: "Mac"),
            .tooManyStreams(device: "Mac"),
        ]
        #expect(failures.allSatisfy { $0.message.contains("Mac") })
        let all =
            failures + [
                .noHandler(type: .browsingWeb, cause: "x"), .launchFailed(app: "x", cause: "y"),
                .appNotAttached(app: "x"), .pageNotOpened("https://x/", cause: "y"), .handlerGone(app: "x"),
                .handlerTimedOut(app: "x"),
                .handlerRefused(app: "x"), .notContinued,
            ]
        #expect(Set(all.map(\.reason)).count == all.count)
    }
}
