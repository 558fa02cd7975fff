import HandoffDaemon
import HandoffHandlers
import HandoffModel
import HandoffState
import HandoffTestSupport
import Testing

/// The claim of an app checked against the unit of its process, and the file of disabled apps.
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
    func `a false claim is an error only in a sandbox`(app: String, unit: String?, claim: AppClaim) {
        #expect(AppClaim(app: app, unit: unit) == claim)
    }

    @Test func `apps with settings have a line for each`() throws {
        let file = try AppSwitches(decoding: Array("# mine\nb.b\nmuted c.c\n\na.a\nno-keep b.b\nmuted a.a\n".utf8))
        #expect(file.disabled == [try #require(AppID("a.a")), try #require(AppID("b.b"))])
        #expect(file.muted == [try #require(AppID("a.a")), try #require(AppID("c.c"))])
        #expect(file.unkept == [try #require(AppID("b.b"))])
        #expect(file.encoded() == Array("a.a\nb.b\nmuted a.a\nmuted c.c\nno-keep b.b\n".utf8))
        #expect(try AppSwitches(decoding: []) == AppSwitches())
    }

    @Test func `devices whose documents are saved without a prompt have a line each`() throws {
        var file = AppSwitches()
        file.accepted = [Sample.device(2): 1 << 30, Sample.device(1): 0]
        let text = "accept \(Sample.device(1).hex) 0\naccept \(Sample.device(2).hex) 1073741824\n"
        #expect(file.encoded() == Array(text.utf8))
        #expect(try AppSwitches(decoding: Array(text.utf8)) == file)
        let id = Sample.device(1).hex
        for line in ["accept ", "accept x", "accept 01 5", "accept \(id)", "accept \(id) -1", "accept \(id) 1 2"] {
            #expect(throws: PeersFile.BadLine.self, "\(line)") { try AppSwitches(decoding: Array("\(line)\n".utf8)) }
        }
    }

    @Test(arguments: [
        ("a.a", 1), ("a.a\nb b\n", 2), ("a/a\n", 1), ("a.a\n\u{0}\n", 2), ("muted \n", 1), ("muted a b\n", 1),
        ("no-keep \n", 1),
    ])
    func `a line that is not an id is refused with its number`(text: String, line: Int) {
        let error = #expect(throws: PeersFile.BadLine.self) { try AppSwitches(decoding: Array(text.utf8)) }
        #expect(error?.number == line)
    }

    @Test func `switches that do not fit in a file are not written`() throws {
        var file = AppSwitches()
        for number in 0..<400 {
            file.disabled.insert(try #require(AppID("a\(number)" + String(repeating: "x", count: 200))))
        }
        #expect(file.encoded() == nil)
    }
}
