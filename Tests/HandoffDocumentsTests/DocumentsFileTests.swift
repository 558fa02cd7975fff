import HandoffDocuments
import Testing

@Suite struct DocumentsFileTests {
    private func parse(_ text: String, home: String? = "/home/ada") -> (SharedRoots, [String]) {
        let (roots, problems) = DocumentsFile.parse(Array(text.utf8), path: "documents.conf", home: home)
        return (roots, problems.map(\.description))
    }

    @Test func `roots and checkouts are read`() {
        let (roots, problems) = parse(
            """
            # Where things are.
            [roots]
            root = notes ~/Sync/My Notes/
              root=work\t/srv/work\r
            checkouts = ~/src
            checkouts = ~

            """)
        #expect(problems == [])
        #expect(roots.folders.map { "\($0.name) \($0.path)" } == ["notes /home/ada/Sync/My Notes", "work /srv/work"])
        #expect(roots.checkouts == ["/home/ada/src", "/home/ada"])
    }

    @Test func `an invalid line is reported and affects nothing else`() {
        let (roots, problems) = parse(
            """
            root = notes
            root = .x /a
            rot = notes /a
            hello
            root = good /good
            root = good /second
            root = relative a/b
            checkouts = ~ada/src
            root = bell \u{7}
            root = name with spaces and no slash
            """)
        #expect(roots.folders.map(\.path) == ["/good"])
        #expect(problems.count == 9)
        #expect(
            problems.map { $0.prefix { $0 != " " } } == [1, 2, 3, 4, 6, 7, 8, 9, 10].map { "documents.conf:\($0):" })
        #expect(problems[2].contains("unknown key 'rot'; allowed keys: root, checkouts"))
        #expect(problems[4].contains("already used in line 5"))
    }

    @Test func `a tilde without a home is an error`() {
        let (roots, problems) = parse("checkouts = ~/src", home: nil)
        #expect(roots.checkouts.isEmpty && problems.count == 1)
    }

    @Test func `hostile files cost little`() {
        let (_, problems) = parse(String(repeating: "x\n", count: 30_000))
        #expect(problems.count == 32)
        let (roots, many) = parse((0..<300).map { "root = n\($0) /n" }.joined(separator: "\n"))
        #expect(roots.folders.count == SharedRoots.maxFolders && many.count == 32)
        let invalid = DocumentsFile.parse([0xFF, 0x0A] + Array("root = a /a".utf8), path: "p", home: nil)
        #expect(invalid.roots.folders.count == 1 && invalid.problems.count == 1)
    }

    @Test func `the user's names take precedence`() throws {
        let tree = try TestTree()
        try tree.file("handoff/documents.conf", "root = a /user\nroot = b\n")
        let (roots, problems) = DocumentsFile.read(environment: ["XDG_CONFIG_HOME": tree.path, "HOME": "/home/ada"])
        #expect(roots.folders.contains { $0.name == "a" && $0.path == "/user" })
        #expect(problems.map(\.place).contains("\(tree.path)/handoff/documents.conf:2"))
        #expect(
            DocumentsFile.paths(environment: ["XDG_CONFIG_HOME": "relative", "HOME": "/h"]).last
                == "/h/.config/handoff/documents.conf")
        var weak = SharedRoots()
        weak.add(try #require(SharedRoots.Folder(name: "a", path: "/system")))
        weak.merge(roots)
        #expect(weak.folders.first?.path == "/user")
    }

    @Test func `an unreadable file is named`() throws {
        let tree = try TestTree()
        try tree.folder("handoff/documents.conf")
        let (_, problems) = DocumentsFile.read(environment: ["XDG_CONFIG_HOME": tree.path])
        #expect(problems.contains { $0.place == "\(tree.path)/handoff/documents.conf" })
        let big = try TestTree()
        try big.file("handoff/documents.conf", String(repeating: "#", count: DocumentsFile.byteLimit + 1))
        let (_, tooLarge) = DocumentsFile.read(environment: ["XDG_CONFIG_HOME": big.path])
        #expect(tooLarge.contains { $0.message.contains("too large") })
    }
}
