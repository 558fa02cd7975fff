import HandoffHandlers
import HandoffModel
import Testing

/// Declarations in desktop entries, and which of them are refused.
struct DesktopEntryTests {
    private static func id(_ text: String) -> AppID {
        guard let id = AppID(text) else { fatalError("the id is valid") }
        return id
    }

    private static func read(
        _ text: String, locale: String? = nil, programs: Set<String> = [],
        path: String = "/a/org.example.Editor.desktop"
    ) throws(HandlerFileError) -> Handler? {
        let declaration = try Handler.declared(
            byDesktopEntry: Array(text.utf8), id: id("org.example.Editor"), path: path, installed: 7,
            locale: DesktopLocale(locale), exists: { $0 == "sh" || programs.contains($0) })
        guard case .handler(let handler) = declaration else { return nil }
        return handler
    }

    /// An entry with these lines from line 4 on. An entry without its own command runs a shell.
    private static func entry(_ lines: String...) -> String {
        let exec = lines.contains { $0.hasPrefix("Exec=") } ? [] : ["Exec=sh"]
        return (["[Desktop Entry]", "Type=Application", "Name=Editor"] + lines + exec).joined(separator: "\n") + "\n"
    }

    private static func problem(_ text: String) -> String? {
        do throws(HandlerFileError) {
            _ = try read(text)
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: [
        ("editor", true), ("/opt/An Editor/icon.png", true), ("", false), ("a/b.png", false), ("../a.png", false),
        ("a\u{202E}b", false), (String(repeating: "x", count: 256), true), (String(repeating: "x", count: 257), false),
    ])
    func `an icon is a short name or an absolute path`(icon: String, isValid: Bool) throws {
        let handler = try Self.read(
            "[Desktop Entry]\nType=Application\nName=E\nExec=editor\nX-Handoff-ActivityTypes=t;\nIcon=\(icon)\n",
            programs: ["editor"])
        #expect(handler != nil && handler?.icon == (isValid ? icon : nil))
    }

    @Test func `types, team and domains are read among comments, blanks and other groups`() throws {
        let handler = try Self.read(
            """
            # An editor

            [Desktop Entry]
            Type = Application
            Name=Editor
            Exec=editor %U
            X-Handoff-ActivityTypes = com.example.edit ; com.example.view;
            X-Handoff-ActivityVersions=com.example.edit 2.0 -;com.example.view - 3;
            X-Handoff-TeamID=TEAM
            X-Handoff-Domains=Example.org;*.example.com.;

            [Desktop Action new]
            Name=New
            X-Handoff-ActivityTypes=none.of.ours;
            """.replacing(" ; ", with: ";"), programs: ["editor"])
        #expect(
            handler?.types == [
                try #require(ActivityType("com.example.edit")), try #require(ActivityType("com.example.view")),
            ])
        #expect(
            handler?.versions == [
                try #require(ActivityType("com.example.edit")): VersionRange(minimum: AppVersion("2.0")),
                try #require(ActivityType("com.example.view")): VersionRange(maximum: AppVersion("3")),
            ])
        #expect(handler?.team == "TEAM")
        #expect(handler?.domains.map(\.description) == ["example.org", "*.example.com"])
        #expect(handler?.name == "Editor")
        #expect(handler?.launch == .desktopEntry(path: "/a/org.example.Editor.desktop"))
    }

    @Test(arguments: [
        ("/a/org.example.my-Editor2.desktop", "org.example.my-Editor2", "/org/example/my_Editor2"),
        ("/a/kde/org.kde._7.desktop", "org.kde._7", "/org/kde/_7"),
    ])
    func `a D-Bus activated app has the name of its file on the bus`(file: String, name: String, path: String) throws {
        let launch = try Self.read(Self.entry("DBusActivatable=true", "X-Handoff-ActivityTypes=a;"), path: file)?.launch
        let bus = try #require(BusName(name))
        #expect(launch == .bus(bus, path: file))
        #expect(bus.path == path)
        let plain = try Self.read(Self.entry("DBusActivatable=false", "X-Handoff-ActivityTypes=a;"), path: file)?.launch
        #expect(plain == .desktopEntry(path: file))
    }

    @Test(arguments: [
        "editor", "a..b", ".a.b", "a.b.", "a.7b", "a.ü", ":1.2", "a b.c", "a/b.c/d.e\u{0}",
        "a." + String(repeating: "b", count: 254),
    ])
    func `a file whose name is not a bus name is started like any other`(name: String) throws {
        let path = "/a/\(name).desktop"
        let launch = try Self.read(Self.entry("DBusActivatable=true", "X-Handoff-ActivityTypes=a;"), path: path)?.launch
        #expect(launch == .desktopEntry(path: path))
    }

    @Test func `escapes are decoded, including semicolons in lists`() throws {
        let text = Self.entry(#"X-Handoff-ActivityTypes=a\;b;c\\d;"#, #"X-Handoff-TeamID=one\stwo\\"#)
        let handler = try Self.read(text)
        #expect(handler?.types.map(\.text).sorted() == ["a;b", #"c\d"#])
        #expect(handler?.team == #"one two\"#)
    }

    @Test func `a value starts directly after the equals sign, even with a combining mark`() throws {
        let handler = try Self.read(Self.entry("X-Handoff-ActivityTypes=a;", "X-Handoff-TeamID=\u{301}"))
        #expect(handler?.team.map { Array($0.utf8) } == Array("\u{301}".utf8))
    }

    @Test func `an error about a file is short and visible, whatever the file contains`() throws {
        let marks = "a" + String(repeating: "\u{301}", count: 20_000)
        let problem = try #require(Self.problem(Self.entry("X-Handoff-ActivityTypes=\(marks);")))
        #expect(problem.utf8.count < 400)
        let escape = try #require(Self.problem(Self.entry("X-Handoff-Domains=\u{1B}[2J\u{202E};")))
        #expect(escape.hasPrefix(#"line 4: \u{1B}[2J\u{202E} is not a domain"#))
    }

    @Test(arguments: [
        ("Name=" + String(repeating: "n", count: 1025), "line 2: a name that is empty"),
        ("Name=", "line 2: a name that is empty"), ("Name=a\u{202E}b", "line 2: a name with control"),
        (#"Name=a\nb"#, "line 2: a name with control"), ("Name=a\u{0}b", "line 2: a name with control"),
    ])
    func `a name is short and visible`(name: String, begins: String) {
        let text = "[Desktop Entry]\n\(name)\nType=Application\nExec=sh\nX-Handoff-ActivityTypes=a;\n"
        #expect(Self.problem(text)?.hasPrefix(begins) == true, "\(Self.problem(text) ?? "no error")")
    }

    @Test func `each limit itself is accepted`() throws {
        let types = (0..<HandlerLimits.types).map { "t\($0);" }.joined()
        let domains = (0..<HandlerLimits.domains).map { "d\($0).example;" }.joined()
        let handler = try Self.read(
            Self.entry(
                "X-Handoff-ActivityTypes=\(types)", "X-Handoff-Domains=\(domains)",
                "X-Handoff-TeamID=" + String(repeating: "t", count: 255)))
        #expect(handler?.types.count == 256 && handler?.domains.count == 256 && handler?.team?.count == 255)
        let more = Self.problem(Self.entry("X-Handoff-ActivityTypes=t;", "X-Handoff-Domains=\(domains)more.example;"))
        #expect(more == "line 5: more than 256 domains")
        let long = Self.problem(Self.entry("X-Handoff-Domains=\(String(repeating: "a.", count: 130))example;"))
        #expect(long?.hasPrefix("line 4: ") == true)
    }

    @Test func `field codes, quotes and dollar signs of Exec are left to the launcher`() throws {
        let handler = try Self.read(
            Self.entry(#"Exec=sh -c "rm -rf $HOME" %f %U %i %c %k"#, "X-Handoff-ActivityTypes=a;"), programs: ["sh"])
        #expect(handler?.launch == .desktopEntry(path: "/a/org.example.Editor.desktop"))
    }

    @Test(arguments: [
        ("de_AT.UTF-8", "Bearbeiter (AT)"), ("de_DE", "Bearbeiter"), ("sr_RS@latin", "Urednik"), ("fr", "Editor"),
        ("C.UTF-8", "Editor"), ("", "Editor"), ("_@.", "Editor"),
    ])
    func `the name is in the user's language`(locale: String, name: String) throws {
        let handler = try Self.read(
            Self.entry(
                "Name[de]=Bearbeiter", "Name[de_AT]=Bearbeiter (AT)", "Name[sr@latin]=Urednik",
                "X-Handoff-ActivityTypes=a;"),
            locale: locale)
        #expect(handler?.name == name)
    }

    @Test func `an app without Handoff support is opened with the received item`() throws {
        let page = try Self.read(Self.entry("Exec=gone", "X-Handoff-Exec=viewer --new %u"), programs: ["viewer"])
        #expect(page?.types == [.browsingWeb] && page?.source == .desktop)
        #expect(
            page?.launch
                == .command([
                    "handoffctl", "handle", "NSUserActivityTypeBrowsingWeb", "--app", "org.example.Editor",
                    "--open-with",
                    "viewer --new %u",
                ]))
        #expect(try Self.read(Self.entry("X-Handoff-Exec=viewer %f"), programs: ["viewer"])?.types == [.content])
        let named = Self.entry("X-Handoff-Exec=viewer %f %u", "X-Handoff-ActivityTypes=b;a;")
        let handler = try Self.read(named, programs: ["viewer"])
        #expect(handler?.types.map(\.text).sorted() == ["a", "b"])
        guard case .command(let words, nil) = handler?.launch else { return #expect(Bool(false), "\(handler as Any)") }
        #expect(words.prefix(4) == ["handoffctl", "handle", "a", "b"])
    }

    @Test func `an app that claims a site with only a command receives pages`() throws {
        let entry = Self.entry("X-Handoff-Exec=viewer %u", "X-Handoff-Domains=shop.example;")
        let handler = try Self.read(entry, programs: ["viewer"])
        #expect(handler?.types == [] && handler?.domains.count == 1)
        guard case .command(let words, nil) = handler?.launch else { return #expect(Bool(false), "\(handler as Any)") }
        #expect(words.prefix(4) == ["handoffctl", "handle", "NSUserActivityTypeBrowsingWeb", "--app"])
    }

    @Test func `a command runs in the folder and the terminal of the entry`() throws {
        let entry = Self.entry("X-Handoff-Exec=vim %f", "Terminal=true", "Path=/srv/my notes")
        for (terminal, begin) in [
            ("xdg-terminal-exec", "xdg-terminal-exec"), ("x-terminal-emulator", "x-terminal-emulator -e"),
        ] {
            let launch = try Self.read(entry, programs: ["vim", terminal])?.launch
            guard case .command(let words, "/srv/my notes") = launch else {
                return #expect(Bool(false), "\(launch as Any)")
            }
            #expect(words.last == "\(begin) vim %f")
        }
    }

    @Test func `hidden entries, and those with a missing program, are not handlers`() throws {
        #expect(try Self.read(Self.entry("Hidden=true", "X-Handoff-ActivityTypes=a;")) == nil)
        #expect(try Self.read(Self.entry("TryExec=editor", "X-Handoff-ActivityTypes=a;")) == nil)
        #expect(try Self.read(Self.entry("TryExec=editor", "X-Handoff-ActivityTypes=a;"), programs: ["editor"]) != nil)
        #expect(try Self.read(Self.entry("NoDisplay=true", "X-Handoff-ActivityTypes=a;")) != nil)
        #expect(try Self.read(Self.entry("X-Handoff-ActivityTypes=;")) == nil)
    }

    @Test func `errors outside Handoff's keys are ignored`() throws {
        #expect(try Self.read("nonsense\n\u{0}") == nil)
        #expect(try Self.read("") == nil)
    }

    @Test(arguments: [
        ("X-Handoff-ActivityTypes=a;\n", "line 1: an entry before the first group"),
        ("[Desktop Entry\nX-Handoff-ActivityTypes=a;\n", "line 1: a group that does not end with ]"),
        (
            entry("X-Handoff-ActivityTypes=a;", "X-Handoff-ActivityTypes=b;"),
            "line 5: duplicate key X-Handoff-ActivityTypes"
        ),
        (
            entry("X-Handoff-ActivityTypes=a b;"),
            "line 4: a b is not an activity type: 1 to 255 visible ASCII characters"
        ),
        (entry("X-Handoff-ActivityTypes=\u{301}a;"), "line 4: \u{301}a is not an activity type"),
        (entry(#"X-Handoff-ActivityTypes=a\q;"#), "line 4: an unknown escape"),
        (entry(#"X-Handoff-ActivityTypes=a\"#), "line 4: a backslash at the end"),
        (entry("X-Handoff-Domains=*.com;"), "line 4: *.com is not a domain"),
        (entry("X-Handoff-Domains=bücher.example;"), "line 4: bücher.example is not a domain"),
        (entry("X-Handoff-Domains=10.0.0.1;"), "line 4: 10.0.0.1 is not a domain"),
        (entry("X-Handoff-ActivityTypes=a;", "Exec=gone %u"), "line 5: Exec names a program that does not exist: gone"),
        (
            entry("X-Handoff-ActivityTypes=a;", #"Exec="/opt/My App/run" --x"#),
            "line 5: Exec names a program that does not exist"
        ),
        (entry("X-Handoff-Exec=viewer"), "line 4: X-Handoff-Exec takes neither a page (%u) nor a file (%f)"),
        (entry(#"X-Handoff-Exec=sh -c "cat %f""#), "line 4: X-Handoff-Exec has a field code inside quotes"),
        (
            entry("X-Handoff-Exec=app %f", "X-Handoff-Domains=a.example;"),
            "line 4: X-Handoff-Exec takes no page (%u), which"
        ),
        (entry("X-Handoff-Exec=sh %f", "Path=notes"), "line 5: Path is not an absolute path"),
        (entry("X-Handoff-Exec=sh %f", "Terminal=true"), "line 5: Terminal is true, and neither xdg-terminal-exec"),
        ("[Desktop Entry]\nType=Application\nName=N\nX-Handoff-ActivityTypes=a;\n", "no Exec"),
        (entry("X-Handoff-Exec=gone %f"), "line 4: X-Handoff-Exec names a program that does not exist: gone"),
        (entry("X-Handoff-ActivityTypes=a;", #"Exec="open"#), "line 5: Exec names no program"),
        (entry("X-Handoff-ActivityTypes=a;", "what"), "line 5: neither KEY=VALUE"),
        (entry("X-Handoff-ActivityTypes=a;", "Hidden=yes"), "line 5: Hidden is neither true nor false"),
        ("[Desktop Entry]\nType=Link\nName=N\nX-Handoff-ActivityTypes=a;\n", "line 2: Type is not Application"),
        ("[Desktop Entry]\nType=Application\nX-Handoff-ActivityTypes=a;\n", "no Name"),
        (
            entry("X-Handoff-ActivityTypes=a;", "X-Handoff-TeamID=" + String(repeating: "t", count: 256)),
            "line 5: a team"
        ),
    ])
    func `an invalid declaration is reported with its line`(text: String, begins: String) {
        let problem = Self.problem(text)
        #expect(problem?.hasPrefix(begins) == true, "\(problem ?? "no error")")
    }

    @Test func `overlong files and invalid UTF-8 are refused`() {
        let long = Self.entry(
            "X-Handoff-ActivityTypes=a;", "#" + String(repeating: "x", count: HandlerLimits.fileBytes))
        #expect(Self.problem(long) == "longer than 65536 bytes")
        let types = String(repeating: "a;", count: HandlerLimits.types + 1)
        #expect(Self.problem(Self.entry("X-Handoff-ActivityTypes=\(types)")) == "line 4: more than 256 types")
        let bytes = Array(Self.entry("X-Handoff-ActivityTypes=a;").utf8) + [0xFF]
        #expect(throws: HandlerFileError(line: 6, "not UTF-8")) { try DesktopFile(parsing: bytes) }
    }
}
