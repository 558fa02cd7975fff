import Dispatch
import Foundation
import HandoffControl
import HandoffJSON
import HandoffKit
import HandoffModel
import HandoffTestSupport
import HandoffTransfer
import LoopIO
import Testing

/// Documents named by another device, on the device that continues the activity.
@Suite(.timeLimit(.minutes(5))) struct DocumentFetchingTests {
    private let kit: KitTest
    private let place: DocumentPlace
    private let application: HandoffApplication
    private let type: ActivityType
    private let content = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

    init() throws {
        kit = try KitTest()
        place = try DocumentPlace()
        application = place.application(
            kit, types: ["com.example.editing"], roots: [.folder("notes", at: place.url("notes"))])
        type = try #require(ActivityType("com.example.editing"))
    }

    /// Continues an activity here, and returns its URLs.
    private func continued(_ urls: [String], streams: Bool = true) throws -> [URL] {
        let seen = Locked<NSUserActivity?>(nil)
        let delegate = NotingApplicationDelegate(kit) { activity, _ in
            seen.withLock { $0 = activity }
            return true
        }
        application.delegate = delegate
        try kit.run(until: "Attach")
        var content = Sample.continued(type: type, title: "Letter", userInfo: ["page": 1])
        content.userInfo["urls"] = .array(urls.map { ["$url": .string($0)] })
        content.streams = streams
        kit.event(.continue(Sample.continuation, content))
        try kit.run(until: "AnswerContinue true")
        withExtendedLifetime(delegate) {}
        let activity = try #require(seen.withLock { $0 })
        return try #require(activity.userInfo?["urls"] as? [URL])
    }

    /// Has the daemon connect streams to senders, in the order of the list.
    private func play(_ senders: [SimulatedSender], outcome: StreamOutcome = .gone) {
        var waiting = senders
        var current: SimulatedSender?
        kit.onCall = { call in
            switch call.member {
            case "OpenStream":
                current = waiting.isEmpty ? nil : waiting.removeFirst()
                guard let sender = current else {
                    call.fail(
                        "dev.handoff1.StreamFailed",
                        ["code": 4608, "reason": "unknownActivity", "message": "it is gone"])
                    break
                }
                sender.open(call)
            case "PassFile": current?.pass(call)
            case "AwaitStream":
                call.reply(AwaitStreamReply(outcome: outcome, message: "it was cut", sent: 0, received: 0).json)
            default: return false
            }
            return true
        }
    }

    /// Starts to access a URL on the callback queue, which blocks.
    private func start(_ url: URL) throws -> Bool {
        let result = Locked(false)
        kit.queue.async { [kit] in
            let exists = url.startAccessingSecurityScopedResource()
            result.withLock { $0 = exists }
            kit.note("started")
        }
        let before = kit.story.count { $0 == "started" }
        try kit.run(until: "started", times: before + 1)
        return result.withLock { $0 }
    }

    // MARK: Shared roots

    @Test func `a document in a shared root resolves to the local copy`() throws {
        let file = try place.write("x", to: "notes/a b.md")
        let urls = try continued([
            "handoff-document:root/notes/a%20b.md?fetch=0#part", "handoff-document:root/notes/new/c.md?fetch=1",
        ])
        #expect(urls[0].path == file.path && urls[0].fragment == "part" && urls[0].isFileURL)
        #expect(urls[1].path == place.path + "/notes/new/c.md")
        // Existing files are accessible, and missing ones are not. Nothing is fetched in their
        // place.
        #expect(urls[0].startAccessingSecurityScopedResource())
        urls[0].stopAccessingSecurityScopedResource()
        #expect(FileManager.default.fileExists(atPath: file.path))
        #expect(!urls[1].startAccessingSecurityScopedResource())
        #expect(kit.daemon?.methods.contains("OpenStream") == false)
    }

    @Test func `a URL that leads out of its root stays unresolved`() throws {
        try place.write("secret", to: "secret/key")
        try place.write("x", to: "notes/a")
        try FileManager.default.createSymbolicLink(
            atPath: place.path + "/notes/out", withDestinationPath: place.path + "/secret")
        let hostile = [
            "handoff-document:root/notes/out/key", "handoff-document:root/notes/../secret/key",
            "handoff-document:root/notes/%2E%2E/secret/key", "handoff-document:root/notes/%2Fetc/passwd",
            "handoff-document:root/notes/a%00", "handoff-document:root/other/a", "handoff-document:name/a",
            "handoff-document:git/example.org%2Fx/a", "handoff-document:name/a?fetch=1000000",
            "handoff-document:root/notes/" + String(repeating: "a/", count: 5000),
        ]
        let urls = try continued(hostile)
        for (url, text) in zip(urls, hostile) {
            #expect(url.absoluteString == text && !url.isFileURL)
            #expect(!url.startAccessingSecurityScopedResource())
        }
    }

    @Test func `a path of another device is not used here`() throws {
        let file = try place.write("secret", to: "secret/key")
        let paths = ["file://" + file.path, "FILE:" + file.path, "file://localhost" + file.path + "#part"]
        for url in try continued(paths) {
            #expect(!url.isFileURL && url.absoluteString == "handoff-document:name/key")
            #expect(!url.startAccessingSecurityScopedResource())
        }
    }

    @Test func `without streams nothing can be fetched`() throws {
        let urls = try continued(["handoff-document:name/a?fetch=0"], streams: false)
        #expect(urls[0].absoluteString == "handoff-document:name/a?fetch=0")
    }

    @Test func `many documents are resolved quickly`() throws {
        let texts = (0..<3000).map { "handoff-document:name/a?fetch=\($0)" }
        let urls = try continued(texts)
        #expect(urls.count == 3000 && urls.count { $0.isFileURL } == 1024)
        #expect(Set(urls).count == 3000)
        #expect(!FileManager.default.fileExists(atPath: place.path + "/cache"))
    }

    // MARK: Fetching

    @Test func `a document is fetched when it is accessed and deleted afterwards`() throws {
        let sender = try SimulatedSender("other name", content)
        play([sender])
        let url = try continued(["handoff-document:name/draft.txt?fetch=7"])[0]
        #expect(url.isFileURL && url.lastPathComponent == "draft.txt")
        #expect(!FileManager.default.fileExists(atPath: url.path))
        #expect(try start(url))
        #expect(
            kit.daemon?.parameters(of: "OpenStream")
                == ["continuation": .string(Sample.continuation.hex), "resource": "document/7"])
        #expect(FileManager.default.contents(atPath: url.path).map(Array.init) == content)
        let folder = try FileManager.default.attributesOfItem(atPath: url.deletingLastPathComponent().path)
        #expect(folder[.posixPermissions] as? Int == 0o700)
        // Accesses are counted: the last one deletes the document.
        #expect(url.startAccessingSecurityScopedResource())
        url.stopAccessingSecurityScopedResource()
        #expect(FileManager.default.fileExists(atPath: url.path))
        url.stopAccessingSecurityScopedResource()
        #expect(!FileManager.default.fileExists(atPath: url.path))
        url.stopAccessingSecurityScopedResource()
        #expect(place.fetched.isEmpty)
    }

    @Test func `a document is fetched again after it was deleted`() throws {
        play([try SimulatedSender("a", content), try SimulatedSender("a", Array("second".utf8))])
        let url = try continued(["handoff-document:name/a?fetch=0"])[0]
        #expect(try start(url))
        url.stopAccessingSecurityScopedResource()
        #expect(try start(url))
        #expect(FileManager.default.contents(atPath: url.path) == Data("second".utf8))
    }

    @Test func `several waiters share one fetch and each counts as an access`() throws {
        play([try SimulatedSender("a", content)])
        let url = try continued(["handoff-document:name/a?fetch=0"])[0]
        let count = Locked(0)
        for _ in 0..<3 {
            DispatchQueue.global().async { [kit] in
                if url.startAccessingSecurityScopedResource() { count.withLock { $0 += 1 } }
                kit.note("started")
            }
        }
        try kit.run(until: "started", times: 3)
        #expect(count.withLock { $0 } == 3)
        #expect(kit.daemon?.methods.count { $0 == "OpenStream" } == 1)
        for exists in [true, true, false] {
            url.stopAccessingSecurityScopedResource()
            #expect(FileManager.default.fileExists(atPath: url.path) == exists)
        }
    }

    @Test func `a document in an unknown root is fetched`() throws {
        play([try SimulatedSender("a", content)])
        let url = try continued(["handoff-document:root/elsewhere/sub/a.md?fetch=2"])[0]
        #expect(url.lastPathComponent == "a.md")
        #expect(try start(url))
        #expect(FileManager.default.contents(atPath: url.path).map(Array.init) == content)
    }

    @Test(
        arguments: [
            ("..%2F..%2Fx", nil), (".bashrc", "_bashrc"), ("-rf", "_rf"), ("a%E2%80%AEb", "a_b"), ("a%0Ab", "a_b"),
            ("..", nil),
        ] as [(String, String?)])
    func `a file name from another device is made safe`(_ name: String, _ safe: String?) throws {
        let url = try continued(["handoff-document:name/\(name)?fetch=0"])[0]
        #expect(url.isFileURL == (safe != nil))
        if let safe { #expect(url.lastPathComponent == safe) }
        if url.isFileURL { #expect(url.path.hasPrefix(place.path + "/cache/handoff/documents/")) }
    }

    // MARK: Errors

    @Test func `an interrupted fetch resumes at the same position`() throws {
        let first = try SimulatedSender("a", content)
        let second = try SimulatedSender("a", content)
        first.onBytes = { [content] stream, call, _ in
            first.write(Array(content.prefix(40_000)))
            call?.fail(
                AppErrorName.streamEnded.rawValue,
                StreamEndedError(moved: 40_000, outcome: .gone, message: "it was cut").json)
            stream.close()
        }
        play([first, second])
        let url = try continued(["handoff-document:name/a?fetch=0"])[0]
        #expect(try start(url))
        #expect(second.offset == 40_000)
        #expect(FileManager.default.contents(atPath: url.path).map(Array.init) == content)
    }

    @Test func `an impossible byte count fails only one fetch`() throws {
        let first = try SimulatedSender("a", content)
        let second = try SimulatedSender("a", content)
        first.onBytes = { [content] stream, call, _ in
            first.write(Array(content.prefix(40_000)))
            call?.fail(
                AppErrorName.streamEnded.rawValue,
                StreamEndedError(moved: 40_000, outcome: .gone, message: "it was cut").json)
            stream.close()
        }
        second.onBytes = { _, call, _ in call?.reply(PassFileReply(moved: .max, done: true).json) }
        play([first, second])
        let url = try continued(["handoff-document:name/a?fetch=0"])[0]
        #expect(try !start(url))
    }

    @Test(arguments: ["handoff", "handoff/documents"])
    func `other users cannot write to the cache`(_ folder: String) throws {
        play([try SimulatedSender("a", content)])
        let path = place.path + "/cache/" + folder
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: path)
        let url = try continued(["handoff-document:name/a?fetch=0"])[0]
        #expect(try start(url))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o755)
    }

    @Test func `a refusal by the other app returns false`() throws {
        play([])
        let url = try continued(["handoff-document:name/a?fetch=0"])[0]
        #expect(try !start(url))
        url.stopAccessingSecurityScopedResource()
    }

    @Test func `content without an end is not a document`() throws {
        let header = try #require(TransferHeader(kind: .stream, name: "a"))
        play([SimulatedSender(header, content)])
        let url = try continued(["handoff-document:name/a?fetch=0"])[0]
        #expect(try !start(url))
        #expect(place.fetched.isEmpty)
    }

    @Test func `a document without room on the disk fails on both devices`() async throws {
        let header = try #require(TransferHeader(kind: .file, name: "a", size: TransferLimits.size))
        let sender = SimulatedSender(header, content)
        sender.onFailure = { [kit] in kit.note("reported") }
        play([sender])
        let url = try continued(["handoff-document:name/a?fetch=0"])[0]
        guard case .failure(let error) = try await fetch(url) else {
            Issue.record("it was fetched")
            return
        }
        try await aside { [kit] in try kit.run(until: "reported") }
        #expect((error.userInfo[NSUnderlyingErrorKey] as? HandoffError)?.reason == "full")
        #expect(place.fetched.isEmpty)
        // The other device receives the reason, but not the location of the cache.
        let failure = try #require(sender.failure)
        #expect(failure.reason == .full && failure.isReported && !failure.message.contains(place.path))
    }

    @Test func `a cache that cannot be created returns false`() throws {
        play([try SimulatedSender("a", content)])
        try place.write("in the way", to: "cache")
        let url = try continued(["handoff-document:name/a?fetch=0"])[0]
        #expect(try !start(url))
        #expect(kit.daemon?.methods.contains("OpenStream") == false)
    }

    // MARK: Asynchronous

    /// Fetches a URL in a task.
    private func fetch(_ url: URL, cancels: Bool = false) async throws -> Result<URL, NSError> {
        let result = Locked<Result<URL, NSError>?>(nil)
        let task = Task { [kit] in
            do {
                let there = try await HandoffDocument.fetch(url) { progress in
                    if progress.total == 100_000, progress.completed == 100_000 { kit.note("all of it") }
                }
                result.withLock { $0 = .success(there) }
            } catch {
                result.withLock { $0 = .failure(error as NSError) }
            }
            kit.note("fetched")
        }
        try await aside { [kit] in
            if cancels {
                try kit.run(until: "OpenStream")
                task.cancel()
            }
            try kit.run(until: "fetched")
        }
        return try #require(result.withLock { $0 })
    }

    @Test func `the asynchronous form reports progress`() async throws {
        play([try SimulatedSender("a", content)])
        let url = try continued(["handoff-document:name/a?fetch=0"])[0]
        #expect(try await fetch(url).get() == url)
        try kit.run(until: "all of it")
        #expect(FileManager.default.fileExists(atPath: url.path))
        url.stopAccessingSecurityScopedResource()
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test func `the asynchronous form reports errors`() async throws {
        play([])
        let url = try continued(["handoff-document:name/draft.txt?fetch=0"])[0]
        guard case .failure(let error) = try await fetch(url) else {
            Issue.record("it was fetched")
            return
        }
        #expect(error.domain == NSCocoaErrorDomain && error.code == 4608)
        #expect(error.localizedDescription == "cannot fetch draft.txt from laptop: it is gone")
    }

    @Test(arguments: [
        ("handoff-document:root/other/a.md", "add 'root = other FOLDER' to documents.conf"),
        ("handoff-document:git/example.org%2Fx/a.md", "a checkout of example.org/x"),
        ("handoff-document:name/a.md", "a.md is not available"),
    ])
    func `the error for an unresolved URL names what is missing`(_ text: String, _ advice: String) async throws {
        let url = try continued([text])[0]
        guard case .failure(let error) = try await fetch(url) else {
            Issue.record("it was fetched")
            return
        }
        #expect(error.localizedDescription.contains(advice))
    }

    @Test func `cancelling the task ends the fetch`() async throws {
        let sender = try SimulatedSender("a", content)
        sender.onBytes = { _, _, _ in }
        play([sender, try SimulatedSender("a", content)])
        let url = try continued(["handoff-document:name/a?fetch=0"])[0]
        guard case .failure(let error) = try await fetch(url, cancels: true) else {
            Issue.record("it was fetched")
            return
        }
        #expect(error.domain == "Swift.CancellationError")
        // The document can be fetched again.
        #expect(try start(url))
    }

    @Test func `files left by a process are deleted by the next`() throws {
        let old = "cache/handoff/documents/\(UUID().uuidString.lowercased())"
        try place.write("old", to: old + "/1/a")
        try place.write("", to: old + ".lock")
        // Names of other folders, or without a process, must be ignored.
        for name in [".", "..", "other"] { try place.write("", to: "cache/handoff/documents/\(name).lock") }
        try place.write("mine", to: "cache/handoff/documents/other/1/b")
        try place.write("mine", to: "cache/handoff/c")
        play([try SimulatedSender("a", content)])
        let url = try continued(["handoff-document:name/a?fetch=0"])[0]
        #expect(try start(url))
        #expect(place.fetched == ["a", "b"])
        #expect(FileManager.default.fileExists(atPath: place.path + "/cache/handoff/c"))
        #expect(!FileManager.default.fileExists(atPath: "\(place.path)/\(old)"))
        url.stopAccessingSecurityScopedResource()
    }
}
