import HandoffDaemon
import HandoffHandlers
import HandoffState
import Testing

/// What an app says of itself against the unit of its process, and the file of those that are switched off.
struct AppClaimTests {
    @Test(
        arguments: [

            ("org.example.Editor", "app-gnome-org.example.Editor-12.scope", .verified),
            ("my-app", #"app-handoff-my\x2dapp-0a1b.service"#, .verified),
            ("org.example.Editor", "app-flatpak-org.example.Editor-12.scope", .verified),
            ("org.example.Editor.Helper", "app-flatpak-org.example.Editor-12.scope", .verified),
            ("org.example.Editor.Helper", "app-gnome-org.example.Editor-12.scope", .unverified),
            ("org.example.Editor", "app-flatpak-org.evil.Game-12.scope", .refused(actual: "org.evil.Game")),
            ("org.evil.Gamer", "app-flatpak-org.evil.Game-12.scope", .refused(actual: "org.evil.Game")),
            ("org.example.Editor", "app-flatpak-org.my-evil.Game-12.scope", .refused(actual: "org.my-evil.Game")),
            ("org.my-app.X", "app-flatpak-org.my-app.X-12.scope", .verified),
            ("firefox_firefox", "snap.firefox.firefox.0a-1b.scope", .verified),
            ("firefox", "snap.firefox.firefox.x.scope", .verified),
            ("org.example.Editor", "snap.evil.game.0a-1b.scope", .refused(actual: "evil_game")),
            ("org.example.Editor", "app-org.gnome.Terminal-12.scope", .unverified),
            ("org.example.Editor", "session-3.scope", .unverified), ("org.example.Editor", nil, .unverified),
            ("cafe\u{301}", "app-caf\u{E9}-12.scope", .unverified),
        ] as [(String, String?, AppClaim)])
    func `only a sandbox makes a false name an error`(app: String, unit: String?, claim: AppClaim) {
        #expect(AppClaim(app: app, unit: unit) == claim)
    }

    @Test func `apps that are switched off are one id a line`() throws {
        let file = try DisabledApps(decoding: Array("# mine\nb.b\n\na.a\n".utf8))
        #expect(file.ids == [try #require(AppID("a.a")), try #require(AppID("b.b"))])
        #expect(file.encoded() == Array("a.a\nb.b\n".utf8))
        #expect(try DisabledApps(decoding: []) == DisabledApps())
    }

    @Test(arguments: [("a.a", 1), ("a.a\nb b\n", 2), ("a/a\n", 1), ("a.a\n\u{0}\n", 2)])
    func `a line that is no id is refused with its number`(text: String, line: Int) {
        let error = #expect(throws: PeersFile.BadLine.self) { try DisabledApps(decoding: Array(text.utf8)) }
        #expect(error?.number == line)
    }

    @Test func `what does not fit in a file is not written`() throws {
        var file = DisabledApps()
        for number in 0..<400 {
            file.ids.insert(try #require(AppID("a\(number)" + String(repeating: "x", count: 200))))
        }
        #expect(file.encoded() == nil)
    }
}
