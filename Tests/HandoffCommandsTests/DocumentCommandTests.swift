import Glibc
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import HandoffTransfer
import LoopIO
import Testing

@testable import HandoffCommands
@testable import HandoffDocuments

/// Tests `document` with a fake daemon.
@Suite(.timeLimit(.minutes(5))) struct DocumentCommandTests {
    private let run: CommandRun
    private let content = (0..<60_000).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ $0 >> 8) }
    private let fetchable = "handoff-document:name/draft.txt?fetch=3#page=2"

    init() throws {
        run = try CommandRun()
    }

    private func path(_ name: String) -> String { run.test.folder.file(name) }

    private func lookup() throws -> DocumentLookup {
        var roots = SharedRoots()
        roots.add(try #require(SharedRoots.Folder(name: "notes", path: path("notes"))))
        roots.add(try #require(SharedRoots.Folder(name: "away", path: path("away"))))
        return DocumentLookup(roots: roots)
    }

    /// Returns a daemon that has one offer, and gives each stream to the sender.
    private func daemon(_ sender: SimulatedSender?) -> (FakeDaemon.Call) -> Void {
        { call in
            guard let type = ActivityType("com.example.editing") else { return }
            switch call.member {
            case "ListActivities":
                var offer = Sample.offer(0xA1, type: type, title: "Draft")
                offer.streams = true
                call.reply(["activities": [.object(offer.json)]])
            case "Continue":
                var activity = Sample.continued(type: type, title: "Draft", userInfo: [:])
                activity.streams = true
                call.reply(ContinueEvent.continued(type, activity, nil, continuation: Sample.continuation).json)
            case "OpenStream": sender?.open(call)
            case "PassFile": sender?.pass(call)
            default: call.fail("org.varlink.service.MethodNotFound", ["method": .string(call.method)])
            }
        }
    }

    // MARK: - Paths

    @Test func `a file in a shared folder has its URL, and the URL leads back to it`() throws {
        try FolderCreation.makeFolders(path("notes/a b"))
        defer { try? ReceivedContent.remove(folder: path("notes")) }
        try run.test.folder.write("text", to: "notes/a b/ü.md")
        let lookup = try lookup()
        let (found, url) = try lookup.url(of: path("notes/a b/ü.md"))
        #expect(found == path("notes/a b/ü.md"))
        #expect(url.text == "handoff-document:root/notes/a%20b/%C3%BC.md")
        #expect(lookup.place(of: url) == .here(found))
        #expect(try lookup.url(of: path("notes/a b")).url.text == "handoff-document:root/notes/a%20b/")
    }

    @Test func `a file outside all shared folders has a name only`() throws {
        try run.test.folder.write("text", to: "draft.txt")
        #expect(try run.run("document", path("draft.txt"), "--json") == .done)
        #expect(
            run.objects == [
                [
                    "version": 1, "path": .string(path("draft.txt")),
                    "url": "handoff-document:name/draft.txt", "shared": false,
                ]
            ])
        #expect(run.daemon.methods.isEmpty)
    }

    @Test func `a file URL and an unusual path are paths`() throws {
        try run.test.folder.write("text", to: "a%41#?.txt")
        #expect(try run.run("document", path("a%41#?.txt")) == .done)
        #expect(try run.run("document", "FILE://localhost\(path("a%2541%23%3F.txt"))") == .done)
        #expect(run.output == "handoff-document:name/a%2541%23%3F.txt\nhandoff-document:name/a%2541%23%3F.txt\n")
    }

    @Test func `a path that is not UTF-8 is refused with the reason`() throws {
        let name = String(systemBytes: Array(path("").utf8) + [0xFF, 0x61])
        #expect(try run.run("document", name, "--json") == .failed)
        #expect(run.errorObjects.first?["error"] == "FileFailed")
        #expect(run.errorObjects.first?["message"]?.string?.contains("is not UTF-8") == true, "\(run.diagnostics)")
    }

    @Test func `a missing file and a pipe have no URL`() throws {
        #expect(try run.run("document", path("missing")) == .failed)
        #expect(run.diagnostics.contains("no such file"))
        #expect(try run.run("document", run.daemon.path) == .failed)
        #expect(run.diagnostics.contains("neither a file nor a folder"))
    }

    // MARK: - URLs

    @Test(arguments: [
        ("root/notes/missing.md", "may not have been synchronised"), ("root/away/a.md", "away does not exist"),
        ("root/other/a.md", "add 'root = other FOLDER'"), ("git/example.org%2Fx/a.md", "a checkout of example.org/x"),
        ("root/notes/link/a.md", "leaves its shared folder"), ("name/a.md", "the other device could not read it"),
        ("name/a.md?fetch=1", "a.md is only on the other device"), ("root/notes/%1B%5B31m", #"\u{1B}[31m"#),
    ])
    func `the reason why a document is not here is stated`(_ text: String, _ reason: String) throws {
        try FolderCreation.makeFolders(path("notes"))
        defer { try? ReceivedContent.remove(folder: path("notes")) }
        symlink("/etc", path("notes/link"))
        let url = try #require(DocumentURL("handoff-document:" + text))
        guard case .absent(let why) = try lookup().place(of: url) else {
            Issue.record("it was found")
            return
        }
        #expect(VisibleText.escape(why).contains(reason), "\(why)")
    }

    @Test(arguments: [
        "handoff-document:root/notes/../../etc/passwd", "handoff-document:root/notes/%2e%2e/a", "handoff-document:",
        "handoff-document:root/notes/a%2Fb", "handoff-document:root/notes/%00", "handoff-document:root/notes/%FF",
        "handoff-document:git/example.org%2Fx/.git/config", "Handoff-Document:name/a?fetch=-1",
        "handoff-document:elsewhere/a", "handoff-document:name/a?fetch=9999999",
    ])
    func `a URL in an invalid form is refused`(_ text: String) throws {
        #expect(try run.run("document", text, "--from", "a1") == .wrongUsage)
        #expect(run.daemon.methods.isEmpty)
    }

    @Test(arguments: [
        (["document", "a", "--from", "a1"], "--from needs the URL"),
        (["document", "handoff-document:name/a?fetch=0", "--output", "b"], "--output needs --from or --continuation"),
        (["document", "handoff-document:name/a", "--force"], "--force needs --output"),
        (["document", "handoff-document:name/a", "--from", "a1", "--continuation", "a1"], "cannot be used together"),
        (["document", "a", "--send", "xyz"], "--send 'xyz' is not an id"),
        (["document", "file://host/a"], "is not the URL of a file on this device"),
    ])
    func `arguments that do not belong together are refused`(_ words: [String], _ reason: String) throws {
        #expect(try run.run(words) == .wrongUsage)
        #expect(run.diagnostics.contains(reason), "\(run.diagnostics)")
    }

    @Test func `without its activity, a document is not fetched`() throws {
        #expect(try run.run("document", fetchable, "--json") == .failed)
        #expect(run.errorObjects.map { $0["error"] } == ["NoDocument"])
        #expect(run.daemon.methods.isEmpty)
    }

    // MARK: - Fetching

    @Test func `a document is fetched from the activity of an offer`() throws {
        let sender = try SimulatedSender("draft.txt", content)
        let words = ["document", fetchable, "--from", "A1A1", "--output", path("copy.txt")]
        #expect(try run.run(words, answer: daemon(sender)) == .done, "\(run.diagnostics)")
        #expect(run.output == path("copy.txt") + "\n")
        #expect(run.diagnostics.isEmpty)
        #expect(run.test.folder.bytes(of: "copy.txt") == content)
        #expect(run.daemon.parameters(of: "Continue") == ["activity": "a1a1", "take": true])
        #expect(
            run.daemon.parameters(of: "OpenStream") == [
                "continuation": .string(Sample.continuation.hex), "resource": "document/3",
            ])
    }

    @Test func `a document is fetched for the app that received its URL`() throws {
        let sender = try SimulatedSender("draft.txt", content)
        let id = Sample.continuation.hex
        let words = ["document", fetchable, "--continuation", id, "--output", path("copy.txt"), "--json"]
        #expect(try run.run(words, answer: daemon(sender)) == .done, "\(run.diagnostics)")
        #expect(run.daemon.methods.filter { $0 != "PassFile" } == ["OpenStream"])
        #expect(
            run.objects.last == [
                "version": 1, "url": .string(fetchable), "path": .string(path("copy.txt")), "fragment": "page=2",
                "fetched": true,
            ])
    }

    @Test func `an interrupted fetch requests the same document again`() throws {
        let first = try SimulatedSender("draft.txt", content)
        first.onBytes = { stream, call, bytes in
            first.write(Array(bytes.prefix(20_000)))
            let end = StreamEndedError(moved: 20_000, outcome: .gone, message: "it was cut")
            call?.fail(AppErrorName.streamEnded.rawValue, end.json)
            stream.close()
        }
        let second = try SimulatedSender("draft.txt", content)
        var senders = [first, second]
        let words = [
            "document", fetchable, "--continuation", Sample.continuation.hex, "--output", path("copy.txt"),
        ]
        var sender: SimulatedSender?
        let status = try run.run(words) { call in
            switch call.member {
            case "OpenStream":
                sender = senders.removeFirst()
                sender?.open(call)
            case "PassFile": sender?.pass(call)
            default: call.reply(AwaitStreamReply(outcome: .gone, message: "it was cut", sent: 0, received: 0).json)
            }
        }
        #expect(status == .done, "\(run.diagnostics)")
        #expect(second.offset == 20_000)
        #expect(run.test.folder.bytes(of: "copy.txt") == content)
    }

    @Test func `a continuation that has ended is an error, and is not retried`() throws {
        let id = Sample.continuation.hex
        let words = ["document", fetchable, "--continuation", id, "--output", path("c.txt"), "--json"]
        let status = try run.run(words) { call in
            call.fail(
                AppErrorName.streamFailed.rawValue,
                ["code": 3328, "reason": "notContinued", "message": "it was not continued here"])
        }
        #expect(status == .failed)
        #expect(run.errorObjects.last?["error"] == "StreamFailed")
        #expect(run.daemon.methods == ["OpenStream"])
    }

    // MARK: - Sending

    @Test func `a file is sent over a requested stream`() throws {
        try run.test.folder.write(bytes: content, to: "draft.txt")
        let receiver = SimulatedReceiver()
        let words = ["document", "--send", Sample.stream.hex, path("draft.txt"), "--json"]
        let status = try run.run(words) { call in
            if call.member == "OpenStream" { receiver.open(call) } else { try? receiver.pass(call) }
        }
        #expect(status == .done, "\(run.diagnostics)")
        #expect(receiver.succeeded && receiver.content == content && receiver.header?.name == "draft.txt")
        #expect(run.daemon.parameters(of: "OpenStream") == ["stream": .string(Sample.stream.hex)])
        #expect(
            run.objects == [
                ["version": 1, "path": .string(path("draft.txt")), "bytes": .integer(Int64(content.count))]
            ])
    }

    @Test func `the other device learns that a file cannot be read, and not its path`() throws {
        let receiver = SimulatedReceiver()
        let status = try run.run("document", "--send", Sample.stream.hex, path("missing.txt")) { receiver.open($0) }
        #expect(status == .failed)
        #expect(run.diagnostics.contains("cannot send missing.txt"))
        try run.test.loop.runTurns(10)
        #expect(receiver.failure?.reason == .unreadable)
        #expect(receiver.failure?.message.contains(run.test.folder.path) == false)
    }
}
