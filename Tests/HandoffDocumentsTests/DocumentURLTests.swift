import HandoffDocuments
import HandoffModel
import Testing

@Suite struct DocumentURLTests {
    @Test(arguments: [
        "handoff-document:root/notes/letters/ada.md", "handoff-document:root/notes", "handoff-document:root/notes/",
        "handoff-document:root/notes/a%20b/%C3%A9%25.md?fetch=0#page=3",
        "handoff-document:git/example.org%2Fnotes%2Fletters/a/b/?fetch=999999",
        "handoff-document:name/draft.txt?fetch=12", "handoff-document:name/draft.txt",
    ])
    func `a written URL is parsed to the same value`(_ text: String) throws {
        #expect(try #require(DocumentURL(text)).text == text)
    }

    @Test(arguments: [
        "handoff-document:", "handoff-document:root", "handoff-document:root/", "handoff-document:root/.x/a",
        "handoff-document:root/notes/../a", "handoff-document:root/notes/%2E%2E/a", "handoff-document:root/notes/./a",
        "handoff-document:root/notes//a", "handoff-document:root//a", "handoff-document:root/notes/a%2Fb",
        "handoff-document:root/notes/a%00b", "handoff-document:root/notes/a%0", "handoff-document:root/notes/a%zz",
        "handoff-document:root/notes/%FF", "handoff-document:root/no%2Ftes/a", "handoff-document:root/notes/a?fetch=-1",
        "handoff-document:root/notes/a?fetch=1000000", "handoff-document:root/notes/a?fetch=+1",
        "handoff-document:root/notes/a?fetch=", "handoff-document:git/example.org%2Fx/.git/hooks/a",
        "handoff-document:git/example.org%2Fx/.GIT/config", "handoff-document:git/Example.org%2Fx/a",
        "handoff-document:git/example.org%2Fx.git/a", "handoff-document:git/%2Fetc/passwd",
        "handoff-document:name", "handoff-document:name/", "handoff-document:name/a/b", "handoff-document:name/..",
        "handoff-document:other/a", "file:///a", "https://example.org/", "handoff-document:///etc/passwd",
        "handoff-document:root/notes/a#b c", "handoff-document:root/notes/" + String(repeating: "a", count: 256),
        "handoff-document:root/notes" + String(repeating: "/a", count: 300),
        "handoff-document:root/notes" + String(repeating: "/" + String(repeating: "a", count: 250), count: 17),
    ])
    func `a URL that leads elsewhere is not a document`(_ text: String) {
        #expect(DocumentURL(text) == nil)
    }

    @Test func `schemes ignore case, and unknown queries are ignored`() throws {
        let url = try #require(DocumentURL("Handoff-Document:name/a?later=1&fetch=2&more"))
        #expect(url.fetch == 2)
    }

    @Test func `an invalid file name is replaced`() {
        for name in ["", "..", ".", "a/b", "a\0", String(repeating: "a", count: 256)] {
            #expect(DocumentURL.nowhere(name, isFolder: false, fragment: nil).name == "document")
        }
        #expect(DocumentURL.nowhere("a", isFolder: false, fragment: "b c").text == "handoff-document:name/a")
    }

    @Test(
        arguments: [
            ("file:///home/ada/a%20b.md", "/home/ada/a b.md"), ("file:/a", "/a"), ("FILE:///a//b/", "/a/b"),
            ("file://localhost/a", "/a"), ("file:///a?x#y", "/a"), ("file:///", "/"),
            ("file://server/a", nil), ("file:a", nil), ("file:///a%00b", nil), ("file:///a%2Fb", nil),
            ("file:///%FF", nil),
            ("file:", nil),
        ] as [(String, String?)])
    func `a file URL has a path or none`(_ text: String, _ path: String?) throws {
        let file = try #require(FileURL(text))
        #expect(file.path == path)
    }

    @Test(arguments: ["/", "/a b/ü", "/%41/a#b?c", "/x\n\u{202E}"])
    func `a path has a file URL`(_ path: String) throws {
        #expect(try #require(FileURL(path: path, isFolder: false)).path == path)
        #expect(try #require(FileURL(path: path, isFolder: true)).path == path)
        #expect(FileURL(path: "a" + path, isFolder: false) == nil)
    }

    @Test(arguments: ["files:///a", "http://a/", "fil", ""])
    func `other URLs are not file URLs`(_ text: String) {
        #expect(FileURL(text) == nil)
    }

    @Test func `resources have a number`() throws {
        #expect(DocumentResource.resource(3)?.text == "document/3")
        for number in [0, 7, 999_999] {
            #expect(try DocumentResource.number(#require(DocumentResource.resource(number))) == number)
        }
        for text in ["document/", "document/-1", "document/1000000", "document/1x", "documents/1", "x"] {
            #expect(try DocumentResource.number(#require(StreamResource(text))) == nil)
        }
    }

    @Test func `urls are found and replaced at any depth`() {
        let value = UserInfoValue.dictionary([
            (.string("a"), .url("u:1")), (.url("u:2"), .array([.set([.url("u:3"), .url("u:4")]), .integer(1)])),
            (.url("u:5"), .string("u:6")),
        ])
        var seen: [String] = []
        value.forEachURL { seen.append($0) }
        #expect(seen.sorted() == ["u:1", "u:2", "u:3", "u:4", "u:5"])
        // Two elements of a set and two keys become equal.
        let replaced = value.replacingURLs { $0 == "u:1" ? nil : "v" }
        #expect(
            replaced
                == .dictionary([(.string("a"), .url("u:1")), (.url("v"), .string("u:6"))]))
    }
}
