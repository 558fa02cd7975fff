import HandoffHandlers
import HandoffModel
import Testing

/// Manifests, the file of the user's choices, ids, and unit names.
struct ManifestTests {
    private static func read(_ text: String, stem: String = "note", programs: Set<String> = ["note"])
        throws(HandlerFileError) -> Handler?
    {
        let declaration = try Handler.declared(
            byManifest: Array(text.utf8), stem: stem, path: "/h/note.json", installed: 1,
            exists: { programs.contains($0) })
        guard case .handler(let handler) = declaration else { return nil }
        return handler
    }

    @Test func `a manifest contains the words of a command`() throws {
        let handler = try Self.read(
            #"{"name": "Notes", "types": ["com.example.note"], "team": "T", "domains": ["n.example"], "exec": ["note", "-x", "$(a)"]}"#
        )
        #expect(handler?.id.text == "note")
        #expect(handler?.name == "Notes")
        #expect(handler?.team == "T")
        #expect(handler?.launch == .command(["note", "-x", "$(a)"]))
        #expect(try Self.read(#"{"id": "a.b", "types": ["t"], "exec": ["note"]}"#)?.id.text == "a.b")
        #expect(try Self.read(#"{"id": "a.b", "types": ["t"], "exec": ["note"]}"#)?.name == "a.b")
        #expect(try Self.read(#"{"types": ["t"], "exec": ["note"]}"#, programs: []) == nil)
    }

    @Test(arguments: [
        ("{\n\"types\": [\"a\"],,}", "line 2: "), ("[]", "line 1: not a JSON object"),
        ("{\n\"types\": \"a\"}", "line 2: types is not an array"),
        ("{\"types\": [7]}", "line 1: types contains a value"),
        (
            "{\"types\": [\"a\"], \"exec\": [\"note\"],\n\"versions\": [\"a 1\"]}",
            "line 2: a 1 is not a type with its first and last version"
        ),
        ("{\"exec\": [\"note\"]}", "neither types nor domains"), ("{\"types\": [\"a\"]}", "a command without words"),
        ("{\"types\": [\"a\"],\n\"exec\": [\"-x\"]}", "line 2: a program that is neither"),
        ("{\"types\": [\"a\"],\n\"exec\": [\"bin/x\"]}", "line 2: a program that is neither"),
        ("{\"types\": [\"a\"],\n\"exec\": [\"x\", \"a\\u0000b\"]}", "line 2: a word"),
        ("{\n\n\"id\": \"a/b\", \"types\": [\"a\"], \"exec\": [\"note\"]}", "line 3: invalid app id"),
    ])
    func `an invalid manifest is reported with its line`(text: String, begins: String) {
        #expect {
            _ = try Self.read(text)
        } throws: { error in
            "\(error)".hasPrefix(begins)
        }
    }

    @Test func `each limit itself is accepted`() throws {
        func exec(_ words: [String]) -> String {
            #"{"types": ["t"], "exec": ["# + (["note"] + words).map { "\"\($0)\"" }.joined(separator: ",") + "]}"
        }
        let most = Array(repeating: "w", count: HandlerLimits.words - 1)
        #expect(try Self.read(exec(most)) != nil)
        #expect(throws: HandlerFileError.self) { try Self.read(exec(most + ["w"])) }
        #expect(try Self.read(exec([String(repeating: "w", count: HandlerLimits.word)])) != nil)
        #expect(throws: HandlerFileError.self) {
            try Self.read(exec([String(repeating: "w", count: HandlerLimits.word + 1)]))
        }
        let types = (0...HandlerLimits.types).map { "\"t\($0)\"" }
        #expect(throws: HandlerFileError(line: 1, "more than 256 types")) {
            try Self.read(#"{"exec": ["note"], "types": [\#(types.joined(separator: ","))]}"#)
        }
        let deep = String(repeating: "[", count: 100_000)
        #expect(throws: HandlerFileError.self) { try Self.read(#"{"exec": ["note"], "types": ["t"], "x": \#(deep)}"#) }
        #expect(throws: HandlerFileError.self) { try Self.read(String(repeating: " ", count: 70_000) + exec([])) }
    }

    @Test(arguments: [
        #"{"types": ["t"], "exec": ["note"], "exec": ["evil"]}"#,
        #"{"types": ["t"], "exec": ["note"], "terminal": "note"}"#,
        #"{"types": ["t"], "exec": ["note"], "terminal": ["./note"]}"#,
        #"{"types": ["t"], "exec": ["note"], "name": "a\nb"}"#,
        #"{"types": ["t"], "exec": ["note"], "name": ""}"#, #"{"types": ["t"], "exec": ["note"], "id": "-x"}"#,
        #"{"types": ["t"], "exec": [""]}"#, #"{"types": ["t"], "exec": ["."]}"#, #"{"types": ["t"], "exec": [".."]}"#,
        #"{"types": ["t"], "exec": ["./note"]}"#, #"{"types": ["t"], "exec": ["~/note"]}"#,
        #"{"types": ["t"], "exec": "note"}"#, #"{"types": ["a b"], "exec": ["note"]}"#,
        #"{"domains": ["*"], "exec": ["note"]}"#, #"{"domains": ["https://a/"], "exec": ["note"]}"#,
        #"{"domains": ["a.example:80"], "exec": ["note"]}"#, #"{"types": {"a": 1}, "exec": ["note"]}"#,
    ])
    func `an invalid manifest does not declare an app`(text: String) {
        // Words without an installed program are skipped; all other errors are reported.
        #expect((try? Self.read(text)) == nil)
    }

    @Test func `the user's choices are read line by line, and an invalid line does not affect others`() throws {
        var problems: [HandlerFileError] = []
        let text = "# mine\n[Handlers]\ncom.example.a = x.desktop;y ; z\nbad\ncom.example.b=a/b;c\n"
        let defaults = HandlerDefaults(parsing: Array(text.utf8)) { problems.append($0) }
        #expect(defaults.apps(for: try #require(ActivityType("com.example.a"))).map(\.text) == ["x", "y", "z"])
        #expect(defaults.apps(for: try #require(ActivityType("com.example.b"))).map(\.text) == ["c"])
        #expect(problems.map(\.line) == [4, 5])
    }

    @Test(arguments: ["", "-x", "a b", "a/b", "../x", "ä", "a;b", "a\u{0}", "$x", String(repeating: "a", count: 256)])
    func `an invalid app id is refused`(text: String) {
        #expect(AppID(text) == nil)
    }

    @Test(arguments: [
        ("app-gnome-org.gnome.Evince-3421.scope", "org.gnome.Evince"),
        ("app-org.kde.konsole-3421.scope", "org.kde.konsole"),
        ("app-org.example.Editor@9f3c.service", "org.example.Editor"),
        ("app-org.example.Editor.service", "org.example.Editor"),
        ("app-flatpak-org.example.Editor-55.scope", "org.example.Editor"), (#"app-my\x2dapp-7.scope"#, "my-app"),
        (#"app-handoff-a\x2db-0a1b2c.service"#, "a-b"), ("app-gnome-org.example.X@autostart.service", "org.example.X"),
        ("session-2.scope", nil), ("app-.scope", nil), (#"app-a\xzz-1.scope"#, nil), ("app-a-b-c-d.scope", nil),
        (#"app-a\x2f..-1.scope"#, nil), ("dbus-:1.2-org.example.X@0.service", nil),
    ])
    func `a unit identifies its app`(unit: String, app: String?) {
        #expect(AppUnit.app(inUnit: unit)?.text == app)
    }

    @Test func `a unit name can be parsed again, and no id makes it too long`() throws {
        for text in ["org.example.Editor", "a-b_c:d", "x@y+z"] {
            let id = try #require(AppID(text))
            #expect(AppUnit.app(inUnit: AppUnit.name(for: id, random: "0a1b")) == id)
        }
        let long = try #require(AppID("a" + String(repeating: "-", count: 254)))
        #expect(AppUnit.name(for: long, random: "0123456789abcdef").utf8.count <= 255)
    }
}
