import HandoffDocuments
import Testing

@Suite struct RepositoryTests {
    @Test(arguments: [
        "https://example.org/notes/letters.git", "https://example.org/notes/letters",
        "http://example.org/notes/letters/",
        "ssh://git@Example.ORG/notes/letters.git", "git@example.org:notes/letters.git", "example.org:/notes/letters",
        "https://ada:secret@example.org:443/notes/letters.git", "ssh://example.org:22/notes//letters.git",
        "git://example.org./notes/letters", "git+ssh://ada@example.org/notes/%6Cetters.git",
        "https://a@b:c@example.org/notes/letters",
    ])
    func `all forms of an address give one repository`(_ remote: String) {
        #expect(RepositoryIdentity(remote: remote)?.text == "example.org/notes/letters")
    }

    @Test(arguments: [
        ("https://example.org:8443/a", "example.org:8443/a"),
        ("ssh://git@example.org:2222/a.git", "example.org:2222/a"),
        ("https://[2001:DB8::1]/a", "[2001:db8::1]/a"), ("git@host:~ada/a.git", "host/~ada/a"),
        ("https://example.org/A", "example.org/A"),
        ("host..:a.git.git", "host/a"),
    ])
    func `different repositories stay different`(_ remote: String, _ text: String) throws {
        let identity = try #require(RepositoryIdentity(remote: remote))
        #expect(identity.text == text)
        #expect(RepositoryIdentity(normalized: text) == identity)
    }

    @Test(arguments: [
        "", "/srv/git/a.git", "../a.git", "file:///srv/a.git", "a", "https://example.org", "https://example.org/",
        "https:///a", "ftp://example.org/a", "https://example.org/a?token=b", "https://example.org/../a",
        "https://user/secret@example.org/a", "https://example.org/a%40b", "https://example.org/%00", "host:",
        "https://example.org:0/a", "https://example.org:99999/a", "https://exa mple.org/a", "-oProxyCommand=x:a",
        "https://example.org/.git", "https://example.org/..git", "https://example.org/...git", "ext::sh -c x", "./a:b",
        "https://example.org/a%2Fb", "https://é.org/a",
        "https://example.org/" + String(repeating: "a", count: 600), "C:\\a",
    ])
    func `paths, queries and invalid text give no repository`(_ remote: String) {
        #expect(RepositoryIdentity(remote: remote) == nil)
    }

    @Test(
        arguments: [
            ("[remote \"origin\"]\n\turl = https://example.org/a\n", "https://example.org/a"),
            ("[core]\n\turl = no\n[Remote \"origin\"] URL=x ; comment\n", "x"),
            (
                "[remote \"other\"]\nurl = no\n[remote \"origin\"]\nfetch = +a\nurl = \"a b#c\"  # d\nurl = second\n",
                "a b#c"
            ),
            ("[remote \"origin\"]\nurl = one\\\n two\n", "one two"), ("[remote.origin]\nurl = x\n", "x"),
            ("[remote \"ori\\gin\"]\nurl = x\n", "x"), ("[remote \"origin\"]\r\n\turl = x\r\n", "x"),
            ("[remote \"Origin\"]\nurl = no\n", nil), ("[remote \"origin\"]\nurlx = no\n", nil), ("", nil),
            ("[remote \"origin\nurl = no\n", nil), ("[remote \"origin\"\nurl = no\n", nil), ("url = no", nil),
            ("[remote \"origin\"]\nurl =\n", nil), ("[remote \"origin\"]\nurl\n", nil), ("[", nil), ("[]", nil),
            ("[remote \"origin\"]\nurl = a\0b\n", nil),
        ] as [(String, String?)])
    func `the remote is parsed as git parses it`(_ text: String, _ url: String?) {
        #expect(GitConfig.origin(Array(text.utf8)) == url)
    }

    @Test(.timeLimit(.minutes(5))) func `the largest file costs little`() {
        let long = String(repeating: "a", count: GitConfig.byteLimit - 100)
        let origin = "[remote \"origin\"]\nurl = "
        #expect(GitConfig.origin(Array((origin + long).utf8)) == long)
        #expect(GitConfig.origin(Array("[remote \"\(long)\"]\nurl = no\n\(origin)x\n".utf8)) == "x")
        let lines = String(repeating: "\\\n", count: (GitConfig.byteLimit - 100) / 2)
        #expect(GitConfig.origin(Array((origin + lines + "x").utf8)) == "x")
    }

    @Test func `worktrees and submodules are recognized`() throws {
        let tree = try TestTree()
        try tree.checkout("main", "git@example.org:a.git")
        // As created by `git worktree add`.
        try tree.file("main/.git/worktrees/tree/commondir", "../..\n")
        try tree.file("tree/.git", "gitdir: \(tree.path)/main/.git/worktrees/tree\n")
        // As created by `git submodule add`.
        try tree.file("main/.git/modules/part/config", "[remote \"origin\"]\nurl = https://example.org/part\n")
        try tree.file("main/part/.git", "gitdir: ../.git/modules/part\n")
        let main = try #require(GitCheckout(at: tree.path + "/main"))
        let worktree = try #require(GitCheckout(at: tree.path + "/tree"))
        let part = try #require(GitCheckout(at: tree.path + "/main/part"))
        #expect(main.identity?.text == "example.org/a" && !main.isPart)
        #expect(worktree.identity == main.identity && !worktree.isPart)
        #expect(part.identity?.text == "example.org/part" && part.isPart)
        #expect(GitCheckout(at: tree.path) == nil)
    }

    @Test func `an unreadable checkout has no identity`() throws {
        let tree = try TestTree()
        try tree.file("big/.git/config", String(repeating: "#", count: GitConfig.byteLimit + 1))
        try tree.folder("empty/.git")
        try tree.file("nonsense/.git", "hello")
        try tree.file("away/.git", "gitdir: /nowhere/at/all\n")
        #expect(try #require(GitCheckout(at: tree.path + "/big")).identity == nil)
        #expect(try #require(GitCheckout(at: tree.path + "/empty")).identity == nil)
        #expect(GitCheckout(at: tree.path + "/nonsense") == nil)
        #expect(try #require(GitCheckout(at: tree.path + "/away")).identity == nil)
    }
}
