import HandoffControl
import HandoffDaemon
import HandoffHandlers
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

/// Text from other devices in notifications.
@Suite struct NotificationTextTests {
    /// A text from a device, and the line that is shown; nil for nothing.
    static let lines: [(String, String?)] = [
        ("Draft", "Draft"),
        ("  a\n b\t\tc\r\n", "a b c"),
        ("a\u{2028}b\u{2029}c\u{85}d\u{A0}e", "a b c d e"),
        ("", nil),
        (" \n ", nil),
        ("\u{0}a\u{7}b\u{1B}[31mc\u{7F}\u{9F}", "ab[31mc"),
        // Directional overrides, isolates and marks; a soft hyphen; a word joiner; a byte order
        // mark; tags.
        ("\u{202E}abc\u{202C}\u{2066}d\u{2069}\u{200E}\u{200F}\u{AD}\u{2060}\u{FEFF}\u{E0041}", "abcd"),
        // Right-to-left text is isolated.
        ("שלום", "\u{2068}שלום\u{2069}"),
        ("a \u{202E}שלום", "\u{2068}a שלום\u{2069}"),
        // Joiners connect emoji and letters; alone they are removed.
        ("👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦"),
        ("\u{200D}\u{200D}", nil),
        ("\u{301}\u{302}a", "a"),
        ("<b>&amp;\"'", "<b>&amp;\"'"),
    ]

    @Test(arguments: lines)
    func `is one line without hidden characters`(_ text: String, _ line: String?) {
        #expect(NotificationText.line(text).map { Array($0.unicodeScalars) } == line.map { Array($0.unicodeScalars) })
    }

    @Test
    func `is cut by user-perceived characters, however many scalars they have`() throws {
        #expect(NotificationText.line("abcdef", limit: 6) == "abcdef")
        #expect(NotificationText.line("abcdefg", limit: 6) == "abcdef…")
        #expect(NotificationText.line("👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦", limit: 2) == "👩‍👩‍👧‍👦👩‍👩‍👧‍👦…")
        for text in [
            String(repeating: "x", count: 65_536), String(repeating: "\n", count: 65_536) + "x",
            "a" + String(repeating: "\u{301}", count: 65_536), String(repeating: "a\u{301}\u{302}", count: 30_000),
            String(repeating: "\u{202E}", count: 65_536), String(repeating: "👩‍👩‍👧‍👦", count: 3000),
        ] {
            guard let line = NotificationText.line(text) else { continue }
            #expect(line.count <= 97 && line.unicodeScalars.count <= 97 * 16)
        }
    }

    @Test
    func `contains no markup once escaped`() {
        #expect(NotificationMarkup.escaped("<b>&amp;\"'") == "&lt;b&gt;&amp;amp;&quot;&#39;")
        #expect(NotificationMarkup.escaped("plain é") == "plain é")
        // A letter or a sign with an accent is one character.
        #expect(NotificationMarkup.escaped("<\u{301}a>") == "&lt;\u{301}a&gt;")
    }

    @Test
    func `an offer is shown with its app, and not at all if none opens it`() throws {
        #expect(Sample.notificationOffer(opens: ControlOpens(kind: .nothing, reason: "no app")) == nil)
        let offer = try #require(Sample.notificationOffer(title: "<b>\n", name: "<i>"))
        let all = NotificationCapabilities(["body", "body-markup", "actions", "icon-static"])
        let shown = NotificationContent.offer(offer).rendered(all)
        #expect(shown.summary == "Editor: <b>" && shown.body == "from &lt;i&gt;" && shown.icon == "phone")
        #expect(shown.choices.map(\.key) == ["default", "continue", "dismiss"])
        let plain = NotificationContent.offer(offer).rendered(NotificationCapabilities(["body"]))
        #expect(plain.body == "from <i>" && plain.choices.isEmpty)
        let bare = NotificationContent.offer(offer).rendered(NotificationCapabilities([]))
        #expect(bare.summary == "Editor: <b> – from <i>" && bare.body.isEmpty)
        let web = try #require(Sample.notificationOffer(opens: ControlOpens(kind: .web), title: nil, name: "\u{202E}"))
        let page = NotificationContent.offer(web).rendered(all)
        #expect(page.summary == "Web browser" && page.body == "from another device")
        let lacking = try #require(
            Sample.notificationOffer(
                opens: ControlOpens(kind: .web), missing: [ControlMissing(.app, name: "com.example\n.editing")]))
        #expect(
            lacking.menuLabel.text()
                == #"Draft (Web browser, Telephone; not on this device: an app for com.example\u{A}.editing)"#,
            "\(lacking.menuLabel.text())")
        let sent = try #require(Sample.notificationOffer(title: "Letter", sent: true))
        let letter = NotificationContent.items([sent]).rendered(all)
        #expect(letter.summary == "Telephone sent you Letter" && letter.body == "opens in: Editor")
        #expect(letter.choices.map(\.english) == ["Open", "Open", "Decline"])
        let failed = NotificationContent.failure(offer, reason: "cannot reach <i>").rendered(all)
        #expect(failed.summary == "Could not continue <b>" && failed.body == "Cannot reach &lt;i&gt;")
        #expect(failed.choices.isEmpty)
    }

    @Test(arguments: DeviceKind.allCases)
    func `each kind of device has an icon`(_ kind: DeviceKind) throws {
        let offer = try #require(Sample.notificationOffer(kind: kind))
        #expect(!NotificationContent.offer(offer).rendered(NotificationCapabilities([])).icon.isEmpty)
    }

    @Test
    func `a token is printable ASCII of limited length, or nil`() {
        for text in ["x", "gnome-shell/The Editor/1-2-host_TIME3", String(repeating: "x", count: 1024)] {
            let variables = ["XDG_ACTIVATION_TOKEN": text, "DESKTOP_STARTUP_ID": text]
            #expect(ActivationToken(text)?.variables == variables)
        }
        for text in ["", "a\nb", "a\u{0}", "é", "\u{7F}", String(repeating: "x", count: 1025)] {
            #expect(ActivationToken(text) == nil)
        }
    }
}
