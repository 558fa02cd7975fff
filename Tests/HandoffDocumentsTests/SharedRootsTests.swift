import Foundation
import Glibc
import Testing

@testable import HandoffDocuments

@Suite struct SharedRootsTests {
    private let tree: TestTree

    init() throws {
        tree = try TestTree()
    }

    private func roots(_ folders: [String: String] = [:], checkouts: [String] = []) throws -> SharedRoots {
        var roots = SharedRoots()
        for (name, path) in folders {
            roots.add(try #require(SharedRoots.Folder(name: name, path: "\(tree.path)/\(path)")))
        }
        for path in checkouts { roots.addCheckouts("\(tree.path)/\(path)") }
        return roots
    }

    private func travels(_ name: String, _ roots: SharedRoots) throws -> String? {
        roots.url(of: try #require(FileURL(tree.url(name))))?.text
    }

    private func arrives(_ text: String, _ roots: SharedRoots) throws -> String {
        var found: [GitCheckout]?
        let path = try roots.path(of: try #require(DocumentURL(text)), found: &found)
        return path.hasPrefix(tree.path + "/") ? String(path.dropFirst(tree.path.count + 1)) : path
    }

    @Test func `folders whose names differ only in the composition of a letter are different`() throws {
        #expect(try roots(checkouts: ["\u{E9}", "e\u{301}", "\u{E9}"]).checkouts.count == 2)
    }

    // MARK: To other devices

    @Test func `a file below a root is sent as its path below it`() throws {
        try tree.file("here/Notes/a b/é.md")
        let roots = try roots(["notes": "here/Notes"])
        #expect(try travels("here/Notes/a b/é.md", roots) == "handoff-document:root/notes/a%20b/%C3%A9.md")
        #expect(try travels("here/Notes", roots) == "handoff-document:root/notes")
        // The file need not exist yet.
        #expect(try travels("here/Notes/new/x", roots) == "handoff-document:root/notes/new/x")
        #expect(try travels("here/Notes2/x", roots) == nil)
        #expect(try travels("here", roots) == nil)
        #expect(try travels("here/Notes/../secret", roots) == nil)
    }

    @Test func `the most specific root wins`() throws {
        try tree.file("all/notes/a")
        try tree.checkout("all/notes/repo", "https://example.org/repo")
        try tree.file("all/notes/repo/b")
        let roots = try roots(["all": "all", "notes": "all/notes"], checkouts: ["all"])
        #expect(try travels("all/notes/a", roots) == "handoff-document:root/notes/a")
        #expect(try travels("all/c", roots) == "handoff-document:root/all/c")
        #expect(try travels("all/notes/repo/b", roots) == "handoff-document:git/example.org%2Frepo/b")
    }

    @Test func `a named root takes precedence over a checkout of the same folder`() throws {
        try tree.checkout("repo", "https://example.org/repo")
        let roots = try roots(["mine": "repo"], checkouts: ["repo"])
        #expect(try travels("repo/b", roots) == "handoff-document:root/mine/b")
    }

    @Test func `a link out of the root is not in it`() throws {
        try tree.file("secret/key")
        try tree.folder("notes")
        try tree.link("notes/out", to: "../secret")
        try tree.link("notes/in", to: "inside")
        try tree.file("notes/inside/a")
        try tree.link("notes/nothing", to: "/nowhere/at/all")
        let roots = try roots(["notes": "notes"])
        #expect(try travels("notes/out/key", roots) == nil)
        #expect(try travels("notes/nothing", roots) == nil)
        #expect(try travels("notes/in/a", roots) == "handoff-document:root/notes/inside/a")
    }

    @Test func `a root may be a link, and a file may be reached through one`() throws {
        try tree.file("disk/notes/a")
        try tree.link("notes", to: "disk/notes")
        try tree.link("home", to: "disk")
        let roots = try roots(["notes": "notes"])
        #expect(try travels("home/notes/a", roots) == "handoff-document:root/notes/a")
        #expect(try arrives("handoff-document:root/notes/a", roots) == "notes/a")
    }

    @Test func `a submodule belongs to the containing checkout`() throws {
        try tree.checkout("src/big", "https://example.org/big")
        try tree.file("src/big/.git/modules/part/config", "[remote \"origin\"]\nurl = https://example.org/part\n")
        try tree.file("src/big/part/.git", "gitdir: ../.git/modules/part\n")
        try tree.file("src/big/part/a")
        let roots = try roots(checkouts: ["src"])
        #expect(try travels("src/big/part/a", roots) == "handoff-document:git/example.org%2Fbig/part/a")
        #expect(try arrives("handoff-document:git/example.org%2Fbig/part/a", roots) == "src/big/part/a")
    }

    @Test func `git's own files are not sent`() throws {
        try tree.checkout("src/a", "https://example.org/a")
        #expect(try travels("src/a/.git/config", try roots(checkouts: ["src"])) == nil)
    }

    // MARK: From other devices

    @Test func `a document gets its local path whether or not it exists`() throws {
        try tree.file("notes/a")
        let roots = try roots(["notes": "notes"])
        #expect(try arrives("handoff-document:root/notes/a", roots) == "notes/a")
        #expect(try arrives("handoff-document:root/notes/new/b%20c", roots) == "notes/new/b c")
        #expect(try arrives("handoff-document:root/notes/", roots) == "notes")
    }

    @Test func `nothing gets a path outside its root`() throws {
        try tree.file("secret/key")
        try tree.folder("notes/sub")
        try tree.link("notes/out", to: "../secret")
        try tree.link("notes/sub/up", to: "../..")
        try tree.link("notes/absolute", to: "/etc")
        try tree.link("notes/nothing", to: "/nowhere/at/all")
        try tree.link("notes/loop", to: "loop")
        let roots = try roots(["notes": "notes", "gone": "no/such"])
        for path in [
            "out/key", "out", "sub/up/secret/key", "absolute/passwd", "nothing", "nothing/x", "loop", "out/new",
        ] {
            #expect(throws: SharedRoots.Missing.outsideRoot) {
                try arrives("handoff-document:root/notes/\(path)", roots)
            }
        }
        #expect(throws: SharedRoots.Missing.noRoot("other")) { try arrives("handoff-document:root/other/a", roots) }
        #expect(throws: SharedRoots.Missing.rootUnavailable("gone", path: tree.path + "/no/such")) {
            try arrives("handoff-document:root/gone/a", roots)
        }
        #expect(throws: SharedRoots.Missing.nowhere) { try arrives("handoff-document:name/a", roots) }
    }

    @Test func `the folders and checkouts that a device lacks are found, each once`() throws {
        try tree.file("notes/a")
        let roots = try roots(["notes": "notes", "gone": "no/such"])
        let documents = [
            "root/notes/a", "root/notes/none", "root/other/a", "root/other/b", "root/gone/c", "git/example.org%2Fone/b",
            "name/c?fetch=1",
        ].compactMap { DocumentURL("handoff-document:" + $0) }
        let identity = try #require(RepositoryIdentity(remote: "https://example.org/one"))
        #expect(
            roots.missing(for: documents) == [
                .noRoot("other"), .rootUnavailable("gone", path: tree.path + "/no/such"), .noCheckout(identity),
                .nowhere,
            ])
    }

    @Test func `checkouts are found by their remote`() throws {
        try tree.checkout("here/src/host/owner/one", "git@example.org:one.git")
        try tree.file("here/src/host/owner/one/b")
        try tree.checkout("there/copy", "https://ada:secret@example.org/one")
        try tree.checkout("there/other", "https://example.org/other")
        try tree.checkout("there/.hidden/one", "https://example.org/one")
        try tree.checkout("there/a/b/c/d/deep", "https://example.org/deep")
        try tree.link("there/link", to: "../here")
        let here = try roots(checkouts: ["here/src"])
        let there = try roots(checkouts: ["there"])
        let text = try #require(try travels("here/src/host/owner/one/b", here))
        #expect(text == "handoff-document:git/example.org%2Fone/b")
        #expect(try arrives(text, there) == "there/copy/b")
        #expect(try arrives(text, here) == "here/src/host/owner/one/b")
        for name in ["deep", "none"] {
            #expect(throws: SharedRoots.Missing.self) {
                try arrives("handoff-document:git/example.org%2F\(name)/b", there)
            }
        }
    }

    @Test func `of several checkouts the one that contains the document is used`() throws {
        try tree.checkout("src/a", "https://example.org/one")
        try tree.checkout("src/b", "https://example.org/one")
        try tree.file("src/b/file")
        let roots = try roots(checkouts: ["src"])
        #expect(try arrives("handoff-document:git/example.org%2Fone/file", roots) == "src/b/file")
        #expect(try arrives("handoff-document:git/example.org%2Fone/new", roots) == "src/a/new")
    }

    @Test func `a pipe in place of a file does not block`() throws {
        try tree.folder("src/a/.git")
        #expect(mkfifo(tree.path + "/src/a/.git/config", 0o600) == 0)
        #expect(mkfifo(tree.path + "/src/pipe", 0o600) == 0)
        let roots = try roots(checkouts: ["src"])
        #expect(try travels("src/a/x", roots) == nil)
        #expect(DocumentTable.Answer(of: try #require(FileURL(tree.url("src/pipe"))), roots: roots).path == nil)
    }

    // MARK: Activities

    @Test func `files of an activity keep their numbers`() throws {
        try tree.file("notes/a", "a")
        try tree.file("other/b c.txt", "b")
        let roots = try roots(["notes": "notes"])
        let urls = [tree.url("notes/a"), tree.url("other/b c.txt"), tree.url("other/missing"), "https://example.org/"]
        let info = HandoffModelValue.array(urls)
        var table = DocumentTable()
        #expect(table.unknown(in: info) == Set(urls.prefix(3)))
        func learn() throws {
            var answers: [String: DocumentTable.Answer] = [:]
            for text in table.unknown(in: info) {
                answers[text] = DocumentTable.Answer(of: try #require(FileURL(text)), roots: roots)
            }
            table.update(answers)
        }
        try learn()
        #expect(table.unknown(in: info).isEmpty && table.offersAny(in: info))
        let expected = [
            "handoff-document:root/notes/a?fetch=0", "handoff-document:name/b%20c.txt?fetch=1",
            "handoff-document:name/missing", "https://example.org/",
        ]
        #expect(HandoffModelValue.texts(table.outgoing(info)) == expected)
        #expect(table.path(0) == tree.path + "/notes/a" && table.path(1) == tree.path + "/other/b c.txt")
        #expect(table.path(2) == nil && table.path(-1) == nil)
        // After a save, all facts are outdated.
        table.invalidate()
        #expect(table.unknown(in: info).count == 3)
        try tree.file("other/missing", "now")
        try FileManager.default.removeItem(atPath: tree.path + "/notes/a")
        try learn()
        #expect(
            HandoffModelValue.texts(table.outgoing(info)) == [
                "handoff-document:root/notes/a", "handoff-document:name/b%20c.txt?fetch=1",
                "handoff-document:name/missing?fetch=2", "https://example.org/",
            ])
    }

    @Test func `no path is sent, however many files there are`() throws {
        let info = HandoffModelValue.array((0..<6000).map { "file:///home/ada/secret/\($0)" })
        var table = DocumentTable()
        let unknown = table.unknown(in: info)
        #expect(unknown.count == DocumentTable.maxKnown)
        var answers: [String: DocumentTable.Answer] = [:]
        for text in unknown {
            let file = try #require(FileURL(text))
            let url = DocumentURL.nowhere(file.name, isFolder: false, fragment: nil)
            answers[text] = DocumentTable.Answer(url: url, path: file.path)
        }
        table.update(answers)
        #expect(table.unknown(in: info).isEmpty)
        let texts = HandoffModelValue.texts(table.outgoing(info))
        #expect(texts.count == 6000 && texts.allSatisfy { !$0.contains("secret") })
        #expect(texts.count { $0.contains("fetch=") } == DocumentTable.maxOffered)
    }
}
