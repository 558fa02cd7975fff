import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import Testing

@testable import LoopIO

@Suite struct ControlClientTests {
    private let test: LoopTest
    private let daemon: FakeDaemon

    init() throws {
        test = try LoopTest()
        daemon = try FakeDaemon(path: test.folder.file("control.socket"), loop: test.loop)
    }

    @Test func `decodes a reply`() throws {
        daemon.onCall = { $0.reply(["account": .string(Sample.account.hex)]) }
        let client = try ControlClient(path: daemon.path, loop: test.loop)
        var answer: Result<AccountID, ClientError>?
        client.createAccount { result in
            answer = result
            test.end()
        }
        try test.run()
        #expect(answer == .success(Sample.account))
        #expect(daemon.log.map(\.method) == ["dev.handoff1.Control.CreateAccount"])
    }

    @Test(arguments: [UInt32(1), 65_534])
    func `nothing is sent to another user's daemon`(distance: UInt32) throws {
        let other = ProcessEnvironment.userID &+ distance
        #expect(throws: ClientError.foreign(path: daemon.path, user: other)) {
            try ControlClient(path: daemon.path, loop: test.loop) { _ in PeerCredentials(pid: 1, uid: other, gid: 0) }
        }
        #expect(daemon.log.isEmpty)
    }

    @Test func `a socket created by root is used`() throws {
        _ = try ControlClient(path: daemon.path, loop: test.loop) { _ in PeerCredentials(pid: 1, uid: 0, gid: 0) }
    }

    @Test func `replies to pipelined calls arrive in order`() throws {
        daemon.onCall = { $0.reply(["echo": .string($0.member)]) }
        let client = try ControlClient(path: daemon.path, loop: test.loop)
        var answers: [String?] = []
        for name in ["First", "Second", "Third"] {
            client.call("dev.handoff1.\(name)") { result in
                answers.append((try? result.get())?.parameters["echo"]?.string)
                if answers.count == 3 { test.end() }
            }
        }
        try test.run()
        #expect(answers == ["First", "Second", "Third"])
    }

    @Test func `an error of the daemon keeps its name and fields`() throws {
        daemon.onCall = { $0.fail("dev.handoff1.Control.NoAccount", ["message": "there is none"]) }
        let client = try ControlClient(path: daemon.path, loop: test.loop)
        var answer: Result<ControlStatus, ClientError>?
        client.getStatus { result in
            answer = result
            test.end()
        }
        try test.run()
        guard case .failure(.refused(let refusal)) = answer else {
            Issue.record("no refusal: \(String(describing: answer))")
            return
        }
        #expect(refusal.kind == "NoAccount")
        #expect(refusal.message == "there is none")
    }

    @Test func `a reply of the wrong form is rejected`() throws {
        daemon.onCall = { $0.reply(["account": 7]) }
        let client = try ControlClient(path: daemon.path, loop: test.loop)
        var answer: Result<AccountID, ClientError>?
        client.createAccount { result in
            answer = result
            test.end()
        }
        try test.run()
        #expect(answer == .failure(.badAnswer("missing or invalid parameter 'account'")))
    }

    @Test(arguments: ["{]\0", "{\"parameters\":{},\"extra\":1}\0", "{\"continues\":true}\0"])
    func `bytes that are not a reply end the connection`(_ bytes: String) throws {
        daemon.onCall = { $0.sendRaw(Array(bytes.utf8)) }
        let client = try ControlClient(path: daemon.path, loop: test.loop)
        var failed = false
        client.call("dev.handoff1.Any") { result in
            if case .failure(.badAnswer) = result { failed = true }
        }
        client.onEnd = { test.end() }
        try test.run()
        #expect(failed)
        #expect(!client.isOpen)
    }

    @Test func `a daemon that dies fails every open call`() throws {
        daemon.onCall = { $0.crash() }
        let client = try ControlClient(path: daemon.path, loop: test.loop)
        var failures: [ClientError] = []
        for _ in 0..<2 {
            client.call("dev.handoff1.Any") { result in
                if case .failure(let error) = result { failures.append(error) }
            }
        }
        client.onEnd = { test.end() }
        try test.run()
        #expect(failures == [.lost(path: daemon.path), .lost(path: daemon.path)])
    }

    @Test func `a call after the end fails from the loop`() throws {
        daemon.onCall = { $0.crash() }
        let client = try ControlClient(path: daemon.path, loop: test.loop)
        client.onEnd = { test.end() }
        client.call("dev.handoff1.Any") { _ in }
        try test.run()
        var failure: ClientError?
        client.call("dev.handoff1.Any") { result in
            if case .failure(let error) = result { failure = error }
            test.end()
        }
        #expect(failure == nil)
        try test.run()
        #expect(failure == .lost(path: daemon.path))
    }

    @Test func `a missing socket is not reachable`() throws {
        let path = test.folder.file("none.socket")
        #expect(throws: ClientError.notReachable(path: path, reason: "no such file or directory")) {
            try ControlClient(path: path, loop: test.loop)
        }
    }

    @Test func `a socket without a listener is not reachable`() throws {
        let path = test.folder.file("none.socket")
        try test.folder.write("", to: "none.socket")
        #expect(throws: ClientError.notReachable(path: path, reason: "no process is listening there")) {
            try ControlClient(path: path, loop: test.loop)
        }
    }

    @Test func `watch follows events and reports their end`() throws {
        let offer = Sample.offer(0xA1, type: ActivityType.browsingWeb, title: "Page")
        daemon.onCall = { call in
            call.reply(WatchEvent.added(offer).json, continues: true)
            call.reply(WatchEvent.ready.json, continues: true)
            call.reply(WatchEvent.removed(offer).json)
        }
        let client = try ControlClient(path: daemon.path, loop: test.loop)
        var events: [Result<WatchEvent, ClientError>] = []
        client.watch { result in
            events.append(result)
            if case .failure = result { test.end() }
        }
        try test.run()
        #expect(
            events == [
                .success(.added(offer)), .success(.ready), .success(.removed(offer)),
                .failure(.lost(path: daemon.path)),
            ])
        #expect(daemon.log.first?.more == true)
    }

    @Test func `changes are followed until the daemon ends`() throws {
        let changes = [ControlChanges(changed: [.status, .devices, .apps]), ControlChanges(changed: [.apps])]
        daemon.onCall = { call in
            call.reply(changes[0].json, continues: true)
            call.reply(changes[1].json)
        }
        let client = try ControlClient(path: daemon.path, loop: test.loop)
        var told: [Result<ControlChanges, ClientError>] = []
        client.followChanges { result in
            told.append(result)
            if case .failure = result { test.end() }
        }
        try test.run()
        #expect(told == [.success(changes[0]), .success(changes[1]), .failure(.lost(path: daemon.path))])
        #expect(daemon.log.first?.more == true)
    }

    @Test func `export sends a length of zero and collects the file`() throws {
        var first: [UInt8] = []
        daemon.onCall = { call in
            call.upgrade(
                received: { bytes, stream in
                    first += bytes
                    stream.write([1, 2])
                    stream.write([3])
                    stream.finish()
                }, ended: { _ in })
        }
        let client = try ControlClient(path: daemon.path, loop: test.loop)
        var file: [UInt8]?
        client.exportAccount { result in
            file = try? result.get().bytes
            test.end()
        }
        try test.run()
        #expect(first == [0, 0, 0, 0])
        #expect(file == [1, 2, 3])
        #expect(daemon.log.first?.upgrade == true)
    }

    @Test(arguments: [
        ("{\"account\":\"\(Sample.account.hex)\",\"joined\":true}\0", ImportOutcome.joined(account: Sample.account)),
        (
            "{\"account\":\"\(Sample.account.hex)\",\"joined\":false,\"missing\":\"nobody is on\"}\0",
            ImportOutcome.waiting(account: Sample.account, missing: "nobody is on")
        ),
        (
            "{\"error\":\"dev.handoff1.Control.InvalidAccountFile\",\"message\":\"used\"}\0",
            ImportOutcome.refused(name: "InvalidAccountFile", message: "used")
        ),
    ])
    func `import sends the file and the end`(_ answer: String, _ expected: ImportOutcome) throws {
        var file: [UInt8] = []
        daemon.onCall = { call in
            call.upgrade(
                received: { bytes, _ in file += bytes },
                ended: { stream in
                    stream.write(Array(answer.utf8))
                    stream.finish()
                })
        }
        let client = try ControlClient(path: daemon.path, loop: test.loop)
        var outcome: Result<ImportOutcome, ClientError>?
        client.importAccount(SecretBuffer([9, 8, 7])) { result in
            outcome = result
            test.end()
        }
        try test.run()
        #expect(file == [0, 0, 0, 0, 9, 8, 7])
        #expect(outcome == .success(expected))
    }

    @Test func `an import that is not answered is lost`() throws {
        daemon.onCall = { $0.upgrade(received: { _, _ in }, ended: { $0.close() }) }
        let client = try ControlClient(path: daemon.path, loop: test.loop)
        var outcome: Result<ImportOutcome, ClientError>?
        client.importAccount(SecretBuffer([1])) { result in
            outcome = result
            test.end()
        }
        try test.run()
        #expect(outcome == .failure(.lost(path: daemon.path)))
    }
}
