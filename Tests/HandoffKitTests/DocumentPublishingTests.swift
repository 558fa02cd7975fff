import Foundation
import HandoffControl
import HandoffJSON
import HandoffKit
import HandoffModel
import HandoffTestSupport
import HandoffTransfer
import LoopIO
import Testing

/// Files named by an activity, on the device that publishes it.
@Suite(.timeLimit(.minutes(5))) struct DocumentPublishingTests {
    private let kit: KitTest
    private let place: DocumentPlace
    private let application: HandoffApplication

    init() throws {
        kit = try KitTest()
        place = try DocumentPlace()
        application = place.application(kit, roots: [.folder("notes", at: place.url("notes"))])
    }

    private func publish(_ userInfo: [AnyHashable: Any]) throws -> NSUserActivity {
        let activity = NSUserActivity(activityType: "com.example.editing", application: application)
        activity.userInfo = userInfo
        activity.becomeCurrent()
        // The save that this requests sees the files in their current state.
        kit.drainQueue()
        try kit.run { $0.contains { $0.hasPrefix("Publish") } }
        return activity
    }

    private var published: JSONObject {
        kit.daemon?.parameters(of: "Publish")?["activity"]?.object ?? [:]
    }

    /// Checks that the daemon never receives a file's path.
    private func expectNoPath() {
        for call in kit.daemon?.log ?? [] {
            #expect(!String(decoding: call.parameters.encoded(), as: UTF8.self).contains(place.path))
        }
    }

    // MARK: Sent URLs

    @Test func `a file in a root is sent as its location there`() throws {
        let file = try place.write("x", to: "notes/a b.md")
        let activity = try publish([NSUserActivityDocumentURLKey: file, "deep": [["url": file], "text"]])
        let userInfo = try #require(published["userInfo"]?.object)
        let url: JSON = ["$url": "handoff-document:root/notes/a%20b.md?fetch=0"]
        #expect(userInfo[NSUserActivityDocumentURLKey] == url)
        #expect(userInfo["deep"] == [["url": url], "text"])
        // Another device may lack the root, and then fetches the file.
        #expect(published["supportsContinuationStreams"] == true)
        #expect(!activity.supportsContinuationStreams)
        #expect(activity.userInfo?[NSUserActivityDocumentURLKey] as? URL == file)
        expectNoPath()
    }

    @Test func `a file outside all roots is sent as a name that can be fetched`() throws {
        let file = try place.write("x", to: "private/draft.txt")
        let activity = try publish(["file": file, "missing": place.url("private/missing"), "page": 3])
        let userInfo = try #require(published["userInfo"]?.object)
        #expect(userInfo["file"] == ["$url": "handoff-document:name/draft.txt?fetch=0"])
        #expect(userInfo["missing"] == ["$url": "handoff-document:name/missing"])
        #expect(userInfo["page"] == 3)
        expectNoPath()
        withExtendedLifetime(activity) {}
    }

    @Test func `URLs that name no file are unchanged`() throws {
        let page = try #require(URL(string: "https://example.org/"))
        let activity = try publish(["url": page, "text": "file:///etc/passwd"])
        #expect(published["userInfo"] == ["url": ["$url": "https://example.org/"], "text": "file:///etc/passwd"])
        #expect(published["supportsContinuationStreams"] ?? false == false)
        withExtendedLifetime(activity) {}
    }

    @Test func `a file that is created later is offered after the next save`() throws {
        let activity = try publish(["file": place.url("private/new.txt")])
        #expect(published["supportsContinuationStreams"] ?? false == false)
        try place.write("x", to: "private/new.txt")
        activity.needsSave = true
        kit.event(.save(kit.lastID))
        try kit.run { $0.contains { $0.hasPrefix("AnswerSave") } }
        let change = try #require(kit.daemon?.parameters(of: "AnswerSave")?["change"]?.object)
        #expect(change["userInfo"] == ["file": ["$url": "handoff-document:name/new.txt?fetch=0"]])
        #expect(change["supportsContinuationStreams"] == true)
    }

    // MARK: Sent documents

    /// Simulates the other device. Returns the data that it receives over a stream for a resource.
    private func receive(_ resource: String, from activity: NSUserActivity) throws -> SimulatedReceiver {
        let receiver = SimulatedReceiver()
        receiver.onEnd = { [kit] in kit.note("over") }
        kit.onCall = { call in
            switch call.member {
            case "OpenStream": receiver.open(call)
            case "PassFile": do { try receiver.pass(call) } catch { call.fail("dev.handoff1.NoSuchStream") }
            case "AwaitStream":
                call.reply(AwaitStreamReply(outcome: .ended, message: "", sent: 0, received: 0).json)
            default: return false
            }
            return true
        }
        kit.event(.stream(kit.lastID, Sample.stream, from: Sample.origin, resource: StreamResource(resource)))
        try kit.run(until: "over")
        withExtendedLifetime(activity) {}
        return receiver
    }

    @Test func `a document is sent by its number`() throws {
        let file = try place.write("what it says", to: "private/draft.txt")
        let receiver = try receive("document/0", from: publish(["file": file]))
        #expect(receiver.succeeded && receiver.content == Array("what it says".utf8))
        #expect(receiver.header?.name == "draft.txt" && receiver.header?.kind == .file)
        #expect(kit.daemon?.parameters(of: "OpenStream") == ["stream": .string(Sample.stream.hex)])
        expectNoPath()
    }

    @Test func `a folder is sent as an archive`() throws {
        try place.write("x", to: "private/folder/inside")
        let receiver = try receive("document/0", from: publish(["folder": place.url("private/folder")]))
        #expect(receiver.succeeded && receiver.header?.kind == .folder && receiver.content.count % 512 == 0)
    }

    @Test(arguments: ["document/1", "document/999999"])
    func `an unknown number is refused`(_ resource: String) throws {
        try place.write("secret", to: "private/other.txt")
        let file = try place.write("x", to: "private/draft.txt")
        let receiver = try receive(resource, from: publish(["file": file]))
        #expect(receiver.failure?.reason == .unsupported && receiver.content.isEmpty)
    }

    @Test func `the error for a deleted document does not contain its path`() throws {
        let file = try place.write("x", to: "private/draft.txt")
        let activity = try publish(["file": file])
        try FileManager.default.removeItem(at: file)
        let receiver = try receive("document/0", from: activity)
        let failure = try #require(receiver.failure)
        #expect(failure.reason == .unreadable && failure.isReported)
        #expect(!failure.message.contains(place.path))
    }

    @Test func `a stream for an unknown resource is not accepted`() throws {
        let file = try place.write("x", to: "private/draft.txt")
        let activity = try publish(["file": file])
        for resource in ["documents", "document/", "document/-1", "document/../0"] {
            kit.event(.stream(kit.lastID, Sample.stream, from: Sample.origin, resource: StreamResource(resource)))
        }
        // A later request shows that these were handled.
        activity.needsSave = true
        kit.event(.save(kit.lastID))
        try kit.run { $0.contains { $0.hasPrefix("AnswerSave") } }
        #expect(kit.daemon?.methods.contains("OpenStream") == false)
    }

    @Test func `an app stream is ended immediately if the app accepts none`() throws {
        let file = try place.write("x", to: "private/draft.txt")
        let activity = try publish(["file": file])
        kit.onCall = { [kit] call in
            guard call.member == "OpenStream" else { return false }
            call.upgrade(
                ["stream": .string(Sample.stream.hex)], received: { _, _ in }, ended: { _ in kit.note("far end") })
            return true
        }
        kit.event(.stream(kit.lastID, Sample.stream, from: Sample.origin))
        try kit.run(until: "far end")
        withExtendedLifetime(activity) {}
    }

    // MARK: Documents

    @Test func `a document in front is the current activity and ends when it is closed`() throws {
        let file = try place.write("x", to: "notes/a.md")
        let document = HandoffDocument(
            fileURL: file, activityType: "com.example.editing", application: application)
        document.becomeMain()
        try kit.run { $0.contains { $0.hasPrefix("Publish") } }
        #expect(published["title"] == "a.md")
        #expect(
            published["userInfo"]
                == [NSUserActivityDocumentURLKey: ["$url": "handoff-document:root/notes/a.md?fetch=0"]])
        // An activity that resigns before it was sent as current needs no ResignCurrent.
        try kit.run(until: "BecomeCurrent")
        document.fileURL = try place.write("x", to: "notes/b.md")
        try kit.run { $0.contains { $0.hasPrefix("Update") && $0.contains("title") } }
        document.resignMain()
        try kit.run(until: "ResignCurrent")
        document.becomeMain()
        try kit.run(until: "BecomeCurrent", times: 2)
        document.close()
        try kit.run(until: "Invalidate")
        #expect(document.userActivity == nil)
    }

    @Test func `a received URL that is not a file URL has no activity`() throws {
        // A hostile device may send such a URL under the key for documents.
        let url = try #require(URL(string: "https://example.org/a.md"))
        let document = HandoffDocument(fileURL: url, activityType: "com.example.editing", application: application)
        document.becomeMain()
        document.changed()
        #expect(document.userActivity == nil && document.fileURL == url)
        // After it is saved while in front, it is handed over. After a move to a URL that is not a
        // file URL, it no longer is.
        document.fileURL = try place.write("x", to: "notes/a.md")
        try kit.run { $0.contains { $0.hasPrefix("Publish") } }
        #expect(published["title"] == "a.md")
        document.fileURL = url
        try kit.run(until: "Invalidate")
        #expect(document.userActivity == nil)
        document.resignMain()
        document.fileURL = try place.write("x", to: "notes/b.md")
        #expect(document.userActivity == nil)
    }

    @Test func `errors in the user's file are reported`() throws {
        #expect(HandoffSharedRoot.folder("a", at: place.url("x")) == .folder("a", at: place.url("x/")))
        #expect(HandoffSharedRoot.checkouts(in: place.url("x")) != .checkouts(in: place.url("y")))
    }
}
