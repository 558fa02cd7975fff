import Glibc
import HandoffDesktopService
import HandoffHandlers
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

/// The folders of app declarations, their content, and the watched names.
struct HandlerReaderTests {
    private let folder: ScratchFolder
    private let places: HandlerPaths

    init() throws {
        folder = try ScratchFolder()
        places = HandlerPaths(environment: [
            "HOME": folder.path, "XDG_DATA_HOME": folder.file("data"),
            "XDG_DATA_DIRS": "\(folder.file("system"))/:relative:\(folder.file("data"))", "PATH": "/bin:/usr/bin",
        ])
    }

    private func write(_ text: String, to path: String) throws {
        var parent = ""
        for part in path.split(separator: "/").dropLast() {
            parent += (parent.isEmpty ? "" : "/") + part
            mkdir(folder.file(parent), 0o700)
        }
        try folder.write(bytes: Array(text.utf8), to: path)
    }

    private static func entry(_ type: String, _ more: String = "") -> String {
        "[Desktop Entry]\nType=Application\nName=N\nX-Handoff-ActivityTypes=\(type);\nExec=true\n\(more)\n"
    }

    @Test func `folders are those of the base directory specification, each once`() {
        #expect(
            places.folders.map(\.path) == [
                folder.file(".config/handoff/handlers.d"), folder.file("data/applications"),
                folder.file("data/handoff/handlers.d"), folder.file("system/applications"),
                folder.file("system/handoff/handlers.d"),
            ])
        #expect(places.defaults == folder.file(".config/handoff/defaults"))
        let bare = HandlerPaths(environment: ["XDG_CONFIG_HOME": "relative"])
        #expect(bare.folders.first?.path == "/usr/local/share/applications")
        #expect(bare.defaults == nil)
        let composed = HandlerPaths(environment: ["XDG_DATA_DIRS": "/\u{E9}:/e\u{301}:/\u{E9}"])
        #expect(Set(composed.folders.map { Array($0.path.utf8) }).count == 4, "paths are compared as bytes")
    }

    @Test func `the first file with an id counts, even if it hides the app or is invalid`() throws {
        try write(Self.entry("system.a"), to: "system/applications/a.desktop")
        try write(Self.entry("system.b"), to: "system/applications/b.desktop")
        try write(Self.entry("system.c"), to: "system/applications/c.desktop")
        try write(Self.entry("own.a"), to: "data/applications/a.desktop")
        try write(Self.entry("own.b", "Hidden=true"), to: "data/applications/b.desktop")
        try write(Self.entry("own.c c"), to: "data/applications/c.desktop")
        try write(Self.entry("deep"), to: "data/applications/kde/sub/d.desktop")
        let found = HandlerReader(places: places).read()
        #expect(found.registry.handlers.map(\.id.text) == ["a", "kde-sub-d"])
        #expect(found.registry.handlers.first?.types == [try #require(ActivityType("own.a"))])
        #expect(found.problems.count == 1)
        #expect(
            found.problems.first?.hasPrefix("cannot use \(folder.file("data/applications/c.desktop")): line 4: ")
                == true)
    }

    @Test func `a manifest of the user precedes a desktop entry with the same id`() throws {
        try write(Self.entry("t"), to: "data/applications/x.desktop")
        try write(#"{"types": ["t"], "exec": ["sh"]}"#, to: ".config/handoff/handlers.d/x.json")
        try write(#"{"types": ["t"], "exec": ["no-such-program"]}"#, to: ".config/handoff/handlers.d/y.json")
        let handlers = HandlerReader(places: places).read().registry.handlers
        #expect(handlers.map(\.launch) == [.command(["sh"])])
    }

    @Test func `the default browser follows the user's choices for pages`() throws {
        func browsers() -> [String] {
            HandlerReader(places: places).read().registry.defaults.apps(for: .browsingWeb).map(\.text)
        }
        #expect(browsers() == [])
        try write("[Default Applications]\ntext/html=c.desktop\n", to: "system/applications/mimeapps.list")
        #expect(browsers() == ["c"])
        try write(
            "[Added Associations]\nx-scheme-handler/https=no.desktop\n[Default Applications]\ntext/html=no.desktop;\n"
                + "x-scheme-handler/https = a.desktop;b.desktop;/bad/.desktop;x\n", to: ".config/mimeapps.list")
        #expect(browsers() == ["a", "b"])
        try write("NSUserActivityTypeBrowsingWeb=b\n", to: ".config/handoff/defaults")
        #expect(browsers() == ["b", "a"])
    }

    @Test func `a change is found by reading again, and unchanged files give the same result`() throws {
        let reader = HandlerReader(places: places)
        #expect(reader.read().registry.handlers.isEmpty)
        try write(Self.entry("one"), to: "data/applications/a.desktop")
        try write("[Desktop Entry]\n", to: "data/applications/b.desktop")
        let first = reader.read()
        #expect(first.registry.handlers.map(\.id.text) == ["a"])
        #expect(reader.read().registry == first.registry)
        try write(Self.entry("second"), to: "data/applications/b.desktop")
        #expect(reader.read().registry.handlers.map(\.id.text) == ["a", "b"])
        unlink(folder.file("data/applications/a.desktop"))
        #expect(reader.read().registry.handlers.map(\.id.text) == ["b"])
    }

    @Test func `files beyond the limit are reported, and those before them count`() throws {
        try write("", to: "data/applications/x")
        for number in 0..<HandlerLimits.files {
            try folder.write(bytes: [], to: "data/applications/a\(number).desktop")
        }
        #expect(HandlerReader(places: places).read().problems.isEmpty)
        try write(Self.entry("t"), to: "data/applications/0.desktop")
        let found = HandlerReader(places: places).read()
        #expect(found.problems.count == 1 && found.problems.first?.hasPrefix("more than 4096 app files") == true)
        try write(Self.entry("t"), to: "data/applications/z.desktop")
        #expect(HandlerReader(places: places).read().problems.count == 1)
        // A single folder may also have too many.
        try write(#"{"types": ["t"], "exec": ["sh"]}"#, to: ".config/handoff/handlers.d/m.json")
        #expect(HandlerReader(places: places).read().registry.handlers.map(\.id.text).contains("m"))
    }

    @Test func `a missing folder is awaited in the nearest parent`() throws {
        let before = HandlerReader(places: places).read().watched
        #expect(before[folder.path] == .names(["data", "system", ".config"]))
        try write(Self.entry("t"), to: "data/applications/sub/a.desktop")
        let after = HandlerReader(places: places).read().watched
        #expect(after[folder.file("data/applications")] == .anything)
        #expect(after[folder.file("data/applications/sub")] == .anything)
        #expect(after[folder.file("data")] == .names(["handoff"]))
        #expect(after[folder.path] == .names(["system", ".config"]))
    }

    @Test func `pipes, folders and circular links in place of files are skipped`() throws {
        try write("", to: "data/applications/x")
        mkfifo(folder.file("data/applications/pipe.desktop"), 0o600)
        mkdir(folder.file("data/applications/folder.desktop"), 0o700)
        symlink(folder.file("data/applications"), folder.file("data/applications/round"))
        symlink("loop.desktop", folder.file("data/applications/loop.desktop"))
        try write(Self.entry("t"), to: "data/applications/a.desktop")
        let found = HandlerReader(places: places).read()
        #expect(found.registry.handlers.map(\.id.text).contains("a"))
        #expect(found.problems.isEmpty)
        #expect(found.watched.count < 16)
    }
}
