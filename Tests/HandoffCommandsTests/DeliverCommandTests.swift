import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import HandoffTransfer
import LoopIO
import Testing

@testable import HandoffCommands

/// Tests the items that wait for a device, with a fake daemon that names the folder.
@Suite(.timeLimit(.minutes(5))) struct DeliverCommandTests {
    private let run: CommandRun
    private let folder: WaitingFolder
    private let laptop = ControlDevice(
        id: Sample.device(0x1A), name: "laptop", kind: .laptop, isSelf: false, online: false)
    private let phone = ControlDevice(id: Sample.device(0x2B), name: "phone", kind: .phone, isSelf: false, online: true)

    init() throws {
        run = try CommandRun()
        folder = try WaitingFolder(state: run.test.folder.path)
    }

    /// Replies like a daemon whose state folder is that of the test.
    private func answer(_ call: FakeDaemon.Call) {
        let diagnosis = ControlDiagnosis(
            stateFolder: run.test.folder.path, stateMode: nil, openFiles: nil, lockedMemory: nil, isIsolated: false,
            members: [])
        switch call.member {
        case "Diagnose": call.reply(diagnosis.json)
        case "ListDevices": call.reply(["devices": .array([laptop, phone].map { .object($0.json) })])
        case "ListPublished": call.reply(["activities": []])
        case "Withdraw":
            call.fail("dev.handoff1.Control.NoSuchActivity", ["identifier": "", "message": "no such activity"])
        default: call.reply()
        }
    }

    private func item(to device: ControlDevice, file: String) throws -> WaitingItem {
        var request = PublishRequest(
            type: .content, title: "a.pdf", userInfo: nil, webpageURL: nil, team: nil, requiredKeys: [],
            stream: .path(file), recipient: device.id.hex, endsWhenAccepted: true)
        request.recipient = device.id.hex
        return try WaitingItem(request, to: device.id)
    }

    @Test func `a second process is refused while the first holds the lock`() throws {
        var lock: ProcessLock? = try folder.lock()
        #expect(try run.run("deliver", "--json", answer: answer) == .alreadyRunning)
        #expect(run.errorObjects.last?["error"] == "AlreadyRunning")
        _ = lock
        lock = nil
        // Nothing waits.
        #expect(try run.run("deliver", answer: answer) == .done)
    }

    @Test func `the kind of the content is kept, and its id is not`() throws {
        try run.test.folder.write("words", to: "a.pdf")
        let item = try item(to: laptop, file: run.test.folder.file("a.pdf"))
        #expect(item.kind == .file && WaitingItem(parsing: item.encoded) == item)
        let other = try self.item(to: laptop, file: run.test.folder.path)
        #expect(other.kind == .folder && WaitingItem(parsing: other.encoded) == other)
    }

    @Test func `an item without its file is listed with the reason until it is withdrawn`() throws {
        try run.test.folder.write("words", to: "a.pdf")
        let file = run.test.folder.file("a.pdf")
        try folder.add([try item(to: laptop, file: file)])
        try FolderListing.removeFile(file)
        #expect(try run.run("deliver", answer: answer) == .done)
        #expect(run.diagnostics.contains("a.pdf was not delivered to 1a1a1a1"), "\(run.diagnostics)")
        #expect(try folder.names().isEmpty)
        let kept = try #require(folder.undelivered.first)
        #expect(kept.title == "a.pdf" && kept.device == laptop.id && UndeliveredItem(parsing: kept.encoded) == kept)

        #expect(try run.run("list", "--mine", answer: answer) == .done)
        #expect(run.output.contains("no: cannot send \(file): no such file"), "\(run.output)")
        let other = kept.id.hex.hasPrefix("0") ? "1" : "0"
        #expect(try run.run("withdraw", other, "--json", answer: answer) == .failed)
        #expect(try run.run("withdraw", kept.id.short, answer: answer) == .done)
        #expect(folder.undelivered.isEmpty)
    }

    @Test func `items that nothing offers are noted`() throws {
        try folder.add([try item(to: laptop, file: run.test.folder.path)])
        #expect(try run.run("list", "--mine", answer: answer) == .done)
        #expect(run.diagnostics.contains("not offered\n  offer them with: handoffctl deliver"), "\(run.diagnostics)")
    }

    @Test func `items are kept for each device once`() throws {
        let words = [
            "send", "--wait", "laptop", "https://example.org/a", "--to", "phone", "--to", laptop.id.hex, "--json",
        ]
        #expect(try run.run(words, answer: answer) == .done)
        #expect(run.objects.map { $0["deviceName"] } == ["laptop", "phone"])
        #expect(try folder.names().count == 2)
    }

    @Test func `items are sent to each device once`() throws {
        var recipients: [JSON?] = []
        let status = try run.run("send", "laptop", "https://example.org/a", "--to", "phone", "--to", "phone") { call in
            switch call.member {
            case "Attach": call.reply(AppEvent.attached(session: "s1").json, continues: true)
            case "Publish":
                recipients.append(call.parameters["activity"]?.object?["to"])
                call.reply(AppEvent.published(Sample.activityID(UInt8(recipients.count)), advice: nil).json)
                if recipients.count == 2 { run.interruptSoon() }
            default: answer(call)
            }
        }
        #expect(status == .done && recipients == [.string(laptop.id.hex), .string(phone.id.hex)])
        #expect(try run.run("send", "laptop", "-", "--to", "phone", answer: answer) == .wrongUsage)
        #expect(try run.run("send", "laptop", "https://example.org/a", "--to", "desk", answer: answer) == .failed)
    }
}
