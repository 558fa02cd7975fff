import Glibc
import HandoffCommands
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import HandoffTransfer
import LoopIO
import Testing

/// Tests `publish --stream` with a fake daemon and fake receivers.
@Suite(.timeLimit(.minutes(5))) struct PublishStreamTests {
    private let run: CommandRun
    private let activity = Sample.activityID(0xA1)
    private let content = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ $0 >> 8) }

    init() throws {
        run = try CommandRun()
        try run.test.folder.write(bytes: content, to: "file")
    }

    private func id(_ number: Int) -> StreamID { StreamID(checked: [UInt8](repeating: UInt8(number), count: 16)) }

    /// Returns a daemon that announces a stream for each receiver, and ends the command once all
    /// have ended.
    private func daemon(
        _ receivers: [SimulatedReceiver], oneByOne: Bool = false, resources: [String] = []
    ) -> (FakeDaemon.Call) -> Void {
        var events: FakeDaemon.Call?
        var left = receivers.count
        let announce = { [activity] (number: Int) in
            let resource = resources.indices.contains(number) ? StreamResource(resources[number]) : nil
            let event = AppEvent.stream(activity, id(number), from: Sample.origin, resource: resource)
            events?.reply(event.json, continues: true)
        }
        for (number, receiver) in receivers.enumerated() {
            receiver.onEnd = { [run] in
                left -= 1
                if left == 0 { run.interruptSoon() } else if oneByOne { announce(number + 1) }
            }
        }
        return { [activity] call in
            switch call.member {
            case "Attach":
                events = call
                call.reply(AppEvent.attached(session: "s1").json, continues: true)
            case "Publish": call.reply(AppEvent.published(activity, advice: nil).json)
            case "BecomeCurrent":
                call.reply()
                for number in receivers.indices where number == 0 || !oneByOne { announce(number) }
            case "OpenStream":
                receivers.indices.first { call.parameters["stream"]?.string == id($0).hex }.map {
                    receivers[$0].open(call)
                }
            case "PassFile":
                receivers.indices.first { call.parameters["stream"]?.string == id($0).hex }
                    .map { try? receivers[$0].pass(call) }
            default: call.reply()
            }
        }
    }

    @Test func `one device cannot have the file read many times concurrently`() throws {
        let receivers = (0..<20).map { _ in SimulatedReceiver() }
        let file = run.test.folder.file("file")
        _ = try run.run("publish", "com.example.editing", "--stream", file, "--json", answer: daemon(receivers))
        #expect(receivers.allSatisfy { $0.succeeded || $0.failure?.reason == .busy })
        #expect(receivers.contains { $0.succeeded } && receivers.contains { !$0.succeeded })
    }

    @Test func `a file is sent to every device that requests it`() throws {
        let receivers = (0..<3).map { _ in SimulatedReceiver() }
        let file = run.test.folder.file("file")
        let status = try run.run(
            "publish", "com.example.editing", "--stream", file, "--json", answer: daemon(receivers))
        #expect(status == .done)
        let published = run.daemon.parameters(of: "Publish")?["activity"]?.object
        #expect(published?["supportsContinuationStreams"] == true)
        for receiver in receivers {
            #expect(receiver.succeeded)
            #expect(receiver.header?.name == "file")
            #expect(receiver.header?.size == Int64(content.count))
            #expect(receiver.content == content)
        }
        let streams = run.objects.filter { $0["event"] == "stream" }
        #expect(streams.filter { $0["state"] == "started" }.count == 3)
        #expect(streams.filter { $0["state"] == "finished" }.count == 3)
        #expect(
            streams.last { $0["stream"] == .string(id(0).hex) } == [
                "version": 1, "event": "stream", "id": .string(activity.hex), "stream": .string(id(0).hex),
                "state": "finished", "device": .string(Sample.origin.device.hex), "deviceName": "laptop",
                "deviceKind": "laptop", "bytes": .integer(Int64(content.count)),
            ])
    }

    @Test func `a file that the payload names is sent as a document, and no other file is`() throws {
        let file = run.test.folder.file("file")
        let resources = ["document/0", "document/1", "document/../file", "document/" + file, "other"]
        let receivers = (0..<6).map { _ in SimulatedReceiver() }
        let payload = #"{"at": [{"$url": "file://\#(file)#page=2"}, {"$url": "file:///none/x"}], "n": 1.0}"#
        let answer = daemon(receivers, resources: resources)
        let status = try run.run("publish", "com.example.editing", "--user-info", payload, "--json", answer: answer)
        #expect(status == .done)
        let published = run.daemon.parameters(of: "Publish")?["activity"]?.object
        #expect(published?["supportsContinuationStreams"] == true)
        let urls: [JSON] = [
            .object(["$url": "handoff-document:name/file?fetch=0#page=2"]),
            .object(["$url": "handoff-document:name/x"]),
        ]
        #expect(published?["userInfo"] == .object(["at": .array(urls), "n": .real(1)]))
        #expect(receivers[0].succeeded && receivers[0].content == content && receivers[0].header?.name == "file")
        // The last one requests the content of the activity, which has none.
        for receiver in receivers.dropFirst() { #expect(receiver.failure?.reason == .unsupported) }
    }

    @Test func `a document that was deleted is an error without its path`() throws {
        let file = run.test.folder.file("file")
        let receiver = SimulatedReceiver()
        let answer = daemon([receiver], resources: ["document/0"])
        let payload = #"{"at": {"$url": "file://\#(file)"}}"#
        let status = try run.run("publish", "com.example.editing", "--user-info", payload, "--json") { call in
            if call.member == "BecomeCurrent" { unlink(file) }
            answer(call)
        }
        #expect(status == .done)
        #expect(receiver.failure?.reason == .unreadable)
        #expect(receiver.failure?.message.contains(run.test.folder.path) == false)
    }

    @Test func `a request that is refused leaves standard input to the device that requested it first`() throws {
        run.input.withLock { $0 = [[1, 2], [3]] }
        let receivers = (0..<3).map { _ in SimulatedReceiver() }
        let answer = daemon(receivers)
        #expect(try run.run("publish", "com.example.editing", "--stream", "-", "--json", answer: answer) == .done)
        #expect(receivers.count { $0.succeeded } == 1)
        #expect(receivers.count { $0.failure?.reason == .busy } == 2)
    }

    @Test func `a long text is a file in memory that is not executable`() throws {
        let receiver = SimulatedReceiver()
        let text = "words, ü" + String(repeating: ".", count: 16_384)
        let status = try run.run("send", "laptop", "--text", text, "--json", answer: daemon([receiver]))
        #expect(status == .done && receiver.succeeded)
        #expect(receiver.content == Array(text.utf8))
        #expect(receiver.header?.name == "Text.txt" && receiver.header?.kind == .file)
        #expect(receiver.header?.mode == 0o644)
    }

    @Test func `the output shows which device receives what`() throws {
        let answer = daemon([SimulatedReceiver()])
        let file = run.test.folder.file("file")
        #expect(try run.run("publish", "com.example.editing", "--stream", file, answer: answer) == .done)
        #expect(
            run.output == """
                published  a1a1a1a
                stream     a1a1a1a  to laptop (1a1a1a1): started
                stream     a1a1a1a  to laptop (1a1a1a1): finished, 48.8 KiB

                """)
        #expect(run.diagnostics.isEmpty)
    }

    @Test func `a file that changes during the transfer is refused`() throws {
        let receiver = SimulatedReceiver()
        receiver.onPassed = { [run] in try? run.test.folder.write(bytes: [1], to: "file") }
        let answer = daemon([receiver])
        let file = run.test.folder.file("file")
        #expect(try run.run("publish", "com.example.editing", "--stream", file, "--json", answer: answer) == .done)
        #expect(receiver.failure?.reason == .changed)
        #expect(run.objects.last { $0["event"] == "stream" }?["reason"] == "changed")
    }

    @Test func `standard input is sent once`() throws {
        run.input.withLock { $0 = [[1, 2], [3]] }
        let receivers = [SimulatedReceiver(), SimulatedReceiver()]
        let answer = daemon(receivers, oneByOne: true)
        #expect(try run.run("publish", "com.example.editing", "--stream", "-", "--json", answer: answer) == .done)
        #expect(receivers[0].succeeded)
        #expect(receivers[0].header?.kind == .stream)
        #expect(receivers[0].content == [1, 2, 3])
        #expect(receivers[1].failure?.isReported == true)
        #expect(receivers[1].failure?.message.contains("only once") == true)
        #expect(run.objects.last { $0["event"] == "stream" }?["state"] == "failed")
    }

    @Test func `a folder is sent as an archive`() throws {
        let receiver = SimulatedReceiver()
        let folder = run.test.folder.path
        // The folder contains the socket of the fake daemon, which cannot be sent.
        #expect(
            try run.run("publish", "com.example.editing", "--stream", folder, answer: daemon([receiver])) == .failed)
        #expect(receiver.succeeded)
        #expect(receiver.header?.kind == .folder)
        #expect(receiver.content.count > content.count)
        #expect(run.diagnostics.contains("control.socket is left out"))
        #expect(run.output.contains(": finished, 48.8 KiB; 1 entry is missing: control.socket: "))
        #expect(run.output.contains("; 1 entry is missing: control.socket: it is neither a file nor a folder"))
        #expect(run.diagnostics.contains("not everything was sent: 1 entry is missing"))
    }

    /// Writes files of one byte each, and returns their paths.
    private func written(_ count: Int) throws -> [String] {
        try (0..<count).map { number in
            try run.test.folder.write(bytes: [UInt8(number)], to: "f\(number)")
            return run.test.folder.file("f\(number)")
        }
    }

    @Test func `more than 32 files are sent as one folder`() throws {
        let receiver = SimulatedReceiver()
        let files = try written(40)
        var titles: [JSON?] = []
        let answer = daemon([receiver])
        let status = try run.run(["send", "laptop"] + files + ["--json"]) { call in
            if call.member == "Publish" { titles.append(call.parameters["activity"]?.object?["title"]) }
            answer(call)
        }
        #expect(status == .done && receiver.succeeded)
        #expect(titles == ["40 files"])
        #expect(receiver.header?.kind == .folder && receiver.header?.name == "40 files")
        #expect(run.objects.last { $0["event"] == "stream" }?["bytes"] == 40)
    }

    @Test func `the files of a list are sent too, and an unreadable one fails before anything is offered`() throws {
        let paths = try written(33)
        try run.test.folder.write(bytes: Array(paths.joined(separator: "\0").utf8) + [0], to: "list")
        let list = run.test.folder.file("list")
        let receiver = SimulatedReceiver()
        let words = ["send", "laptop", "--files0-from", list, "--json"]
        #expect(try run.run(words, answer: daemon([receiver])) == .done)
        #expect(receiver.header?.name == "33 files" && receiver.succeeded)
        unlink(paths[7])
        #expect(try run.run(words) == .failed)
        #expect(run.diagnostics.contains("no such file"))
    }

    @Test func `a stream that no longer exists has its own failure`() throws {
        let answer = daemon([SimulatedReceiver()])
        run.onOutput = { [run] line in
            if line.contains("failed") { run.context?.interrupt() }
        }
        let file = run.test.folder.file("file")
        let status = try run.run("publish", "com.example.editing", "--stream", file) { call in
            guard call.member == "OpenStream" else { return answer(call) }
            call.fail(AppErrorName.noSuchStream.rawValue, ["stream": call.parameters["stream"] ?? .null])
        }
        #expect(status == .done)
        #expect(run.output.contains("to laptop (1a1a1a1): failed: the stream has ended"))
    }

    @Test func `unreadable content fails before anything is offered`() throws {
        let none = run.test.folder.file("none")
        #expect(try run.run("publish", "com.example.editing", "--stream", none) == .failed)
        #expect(run.diagnostics.contains("cannot send \(none): no such file or directory"))
        #expect(run.daemon.log.isEmpty)
        #expect(try run.run("publish", "com.example.editing", "--stream", "") == .wrongUsage)
    }
}
