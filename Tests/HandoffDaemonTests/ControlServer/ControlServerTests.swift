import Glibc
import HandoffControl
import HandoffJSON
import HandoffTestSupport
import Testing

@testable import HandoffDaemon
@testable import LoopIO

private let status = VarlinkCall(method: ControlMethod.getStatus.rawValue)
private let watch = VarlinkCall(method: ControlMethod.watch.rawValue, more: true)
private let invalidate = VarlinkCall(method: AppMethod.invalidate.rawValue, parameters: ["session": "s"])

struct ControlServerCallTests {
    @Test(arguments: [ControlRole.control, .app])
    func `introspection is answered without the daemon`(role: ControlRole) throws {
        let fixture = try ControlFixture()
        let client = try fixture.connect(role)
        try client.call(VarlinkCall(method: "org.varlink.service.GetInfo"))
        let reply = try #require(try client.replies().first)
        #expect(reply.parameters["version"] == "1.2.3")
        #expect(reply.parameters["interfaces"]?.array?.contains("dev.handoff1.Control") == (role == .control))
        #expect(fixture.calls.isEmpty)
    }

    @Test func `a call reaches the daemon with its client, and is answered later`() throws {
        let fixture = try ControlFixture()
        let client = try fixture.connect(.app)
        try client.call(invalidate)
        let call = try #require(fixture.calls.first)
        #expect(call.method == invalidate.method)
        #expect(call.parameters == ["session": "s"])
        #expect(!call.wantsMore)
        #expect(!call.wantsUpgrade)
        #expect(call.client == ClientIdentity(pid: getpid(), uid: geteuid(), group: .process(getpid()), role: .app))
        #expect(try client.replies() == [])
        call.reply(["x": 1])
        #expect(try client.replies() == [VarlinkReply(parameters: ["x": 1])])
        #expect(!call.isOpen)
    }

    @Test func `replies that continue, an error, and the next call`() throws {
        let fixture = try ControlFixture()
        let client = try fixture.connect()
        try client.call(watch, status)
        fixture.calls[0].replyContinuing(["n": 1])
        fixture.calls[0].replyContinuing(["n": 2])
        #expect(fixture.calls.count == 1)
        fixture.calls[0].fail("dev.handoff1.Control.NoAccount", ["message": "m"])
        #expect(fixture.calls.count == 2)
        fixture.calls[1].fail(.invalidParameter("a.b"))
        #expect(
            try client.replies() == [
                VarlinkReply(parameters: ["n": 1], continues: true),
                VarlinkReply(parameters: ["n": 2], continues: true),
                VarlinkReply(error: "dev.handoff1.Control.NoAccount", parameters: ["message": "m"]),
                VarlinkReply(error: VarlinkService.invalidParameter, parameters: ["parameter": "a.b"]),
            ])
    }

    @Test func `thousands of calls at once are answered in order without exhausting the stack`() throws {
        let fixture = try ControlFixture()
        fixture.serve = { $0.reply($0.parameters) }
        let client = try fixture.connect()
        let count: Int64 = 5_000
        var received: [VarlinkReply] = []
        for start in stride(from: 0, to: count, by: 500) {
            let bytes = (start..<start + 500).flatMap {
                VarlinkCall(method: status.method, parameters: ["n": .integer($0)]).encoded()
            }
            try client.send(bytes)
            received += try client.replies()
        }
        #expect(received == (0..<count).map { VarlinkReply(parameters: ["n": .integer($0)]) })
    }

    @Test func `thousands of replies from one handler arrive in order`() throws {
        let fixture = try ControlFixture()
        fixture.serve = { call in
            for number in 0..<Int64(3_000) { call.replyContinuing(["n": .integer(number)]) }
        }
        let client = try fixture.connect()
        try client.call(watch)
        #expect(try client.replies().map { $0.parameters["n"]?.integer } == Array(0..<3_000))
        fixture.calls[0].reply([:])
        #expect(try client.replies() == [VarlinkReply()])
    }

    @Test func `a oneway call gets no reply`() throws {
        let fixture = try ControlFixture()
        fixture.serve = { $0.reply(["x": 1]) }
        let client = try fixture.connect()
        try client.call(
            VarlinkCall(method: status.method, oneway: true), VarlinkCall(method: "dev.other.X", oneway: true))
        try client.call(status)
        #expect(try client.replies() == [VarlinkReply(parameters: ["x": 1])])
        #expect(fixture.calls.count == 2)
    }

    @Test func `late and repeated replies are dropped`() throws {
        let fixture = try ControlFixture()
        let client = try fixture.connect()
        try client.call(status)
        fixture.calls[0].reply([:])
        fixture.calls[0].reply([:])
        fixture.calls[0].fail("a.E")
        #expect(try client.replies() == [VarlinkReply()])
        try client.call(watch)
        try client.close()
        fixture.calls[1].replyContinuing([:])
        fixture.calls[1].reply([:])
        #expect(fixture.server.connectionCount == 0)
    }

    @Test func `a reply from inside the handler precedes later ones`() throws {
        let fixture = try ControlFixture()
        fixture.serve = { call in
            if call.wantsMore {
                call.replyContinuing(["n": 1])
                call.reply(["n": 2])
            } else {
                call.reply(["n": 3])
            }
        }
        let client = try fixture.connect()
        try client.call(watch, status)
        #expect(try client.replies().map { $0.parameters["n"] } == [1, 2, 3])
    }
}

struct ControlServerPermissionTests {
    @Test func `the app socket does not know the control interface`() throws {
        let fixture = try ControlFixture()
        let client = try fixture.connect(.app)
        try client.call(status, invalidate)
        #expect(
            try client.replies() == [
                VarlinkReply(error: VarlinkService.interfaceNotFound, parameters: ["interface": "dev.handoff1.Control"])
            ])
        #expect(fixture.calls.map(\.method) == [invalidate.method])
    }

    @Test func `a sandboxed process is denied only the control interface`() throws {
        let fixture = try ControlFixture()
        fixture.group = .unit("app-flatpak-org.example.App-12.scope")
        let client = try fixture.connect(.control)
        try client.call(status, invalidate)
        #expect(try client.replies() == [VarlinkReply(error: VarlinkService.permissionDenied)])
        #expect(fixture.calls.map(\.method) == [invalidate.method])
        // The group of a client does not change when its process id is reused.
        fixture.calls[0].reply([:])
        fixture.group = nil
        try client.call(status)
        #expect(try client.replies().last?.error == VarlinkService.permissionDenied)
    }

    @Test func `another user is disconnected without a byte`() throws {
        let fixture = try ControlFixture(userID: geteuid() &+ 1)
        let client = try fixture.connect()
        try client.call(status)
        #expect(try client.receive().isEmpty)
        #expect(client.hasEnded)
        #expect(fixture.calls.isEmpty)
        #expect(fixture.sink.entries.count == 1)
    }
}

struct ControlServerLimitTests {
    private let publish = VarlinkCall(method: AppMethod.publish.rawValue, more: true)

    private func expectRefusal(_ client: ControlTestClient, _ message: String) throws {
        let bytes = try client.receive()
        let end = try #require(bytes.firstIndex(of: 0))
        let reply = try VarlinkReply(decoding: Array(bytes[..<end]))
        #expect(reply.error?.hasSuffix(".LimitExceeded") == true)
        #expect(reply.parameters["limit"]?.string == "connections")
        #expect(reply.parameters["message"]?.string == message)
        #expect(client.hasEnded)
    }

    @Test func `the last connections are reserved for tools, in total and per program`() throws {
        var limits = ControlLimits()
        limits.connections = 6
        limits.connectionsPerGroup = 4
        limits.connectionsForTools = 2
        let fixture = try ControlFixture(limits: limits)
        fixture.group = .unit("app-terminal.scope")
        let publishing = try (0..<2).map { _ in try fixture.connect() }
        for client in publishing { try client.call(publish) }
        #expect(fixture.calls.count == 2)
        let third = try fixture.connect()
        try third.call(publish)
        let bytes = try third.receive()
        let reply = try VarlinkReply(decoding: Array(bytes.dropLast()))
        #expect(reply.error == AppErrorName.limitExceeded.rawValue)
        // The connection still serves a tool.
        try third.call(status)
        #expect(fixture.calls.count == 3)
        #expect(!third.hasEnded)
        fixture.group = .unit("app-editor.scope")
        let fourth = try fixture.connect()
        try fourth.call(publish)
        #expect(fixture.calls.count == 4)
        let fifth = try fixture.connect()
        try fifth.call(watch)
        #expect(fixture.calls.count == 4)
        try fifth.call(status)
        #expect(fixture.calls.count == 5)
    }

    @Test func `only a few connections beyond a limit wait for an error`() throws {
        var limits = ControlLimits()
        limits.connectionsPerGroup = 1
        limits.refusedConnections = 2
        let fixture = try ControlFixture(limits: limits)
        let clients = try (0..<4).map { _ in try fixture.connect() }
        for client in clients { _ = try client.receive() }
        #expect(clients.map(\.hasEnded) == [false, false, false, true])
    }

    @Test func `connections are limited in total, and ended ones make room`() throws {
        var limits = ControlLimits()
        limits.connections = 2
        let fixture = try ControlFixture(limits: limits)
        let first = try fixture.connect()
        let second = try fixture.connect()
        let third = try fixture.connect()
        try third.call(status)
        try expectRefusal(third, "all 2 connections to the daemon are in use")
        #expect(fixture.server.connectionCount == 2)
        try first.close()
        let fourth = try fixture.connect()
        try fourth.call(status)
        #expect(fixture.calls.count == 1)
        #expect(!second.hasEnded)
    }

    @Test func `apps leave room for the user's own tools`() throws {
        var limits = ControlLimits()
        limits.connections = 4
        limits.appConnections = 2
        limits.connectionsPerGroup = 1
        let fixture = try ControlFixture(limits: limits)
        fixture.group = .process(1)
        let first = try fixture.connect(.app)
        fixture.group = .process(2)
        let second = try fixture.connect(.app)
        fixture.group = .process(3)
        let third = try fixture.connect(.app)
        try third.call(publish)
        try expectRefusal(third, "all 2 connections to the daemon's app socket are in use")
        // Room remains even for tools that run in the unit of an app at its limit.
        fixture.group = .process(1)
        let tool = try fixture.connect(.control)
        try tool.call(status)
        #expect(fixture.calls.count == 1)
        #expect(!first.hasEnded && !second.hasEnded)
    }

    @Test func `endless refusals are logged as a few entries with their number`() throws {
        var limits = ControlLimits()
        limits.connectionsPerGroup = 1
        let fixture = try ControlFixture(limits: limits)
        let held = try fixture.connect(.app)
        func refuse(_ count: Int) throws {
            for _ in 0..<count { _ = try fixture.connect(.app) }
        }
        let message = "Refused a control connection: limit for one program reached"
        var lines: [LogEntry] { fixture.sink.entries.filter { $0.message == message } }
        try refuse(1000)
        #expect(lines.count == 8)
        try fixture.pass(.seconds(62))
        #expect(lines.count == 9)
        #expect(lines.last?.fields == [LogEntry.Field(name: "more", value: "992")])
        // Another minute of refusals, then none.
        try refuse(1000)
        try fixture.pass(.seconds(62))
        try fixture.pass(.seconds(62))
        #expect(lines.count <= 11)
        #expect(lines.last?.fields.first?.name == "more")
        #expect(!held.hasEnded)
    }

    @Test func `a program has one share however many processes it has`() throws {
        var limits = ControlLimits()
        limits.connectionsPerGroup = 2
        let fixture = try ControlFixture(limits: limits)
        fixture.group = .unit("app-org.example.Greedy-1.scope")
        let held = try (0..<2).map { _ in try fixture.connect(.app) }
        let third = try fixture.connect(.app)
        try third.call(publish)
        try expectRefusal(
            third, "app-org.example.Greedy-1.scope uses all 2 connections to the daemon that one program may have")
        fixture.group = .unit("app-org.example.Modest-1.scope")
        let other = try fixture.connect(.app)
        _ = try other.receive()
        #expect(!other.hasEnded && !held.contains { $0.hasEnded })
    }

    @Test func `clients that exit right after connecting share one group`() throws {
        #expect(ClientGroup(ofProcess: getpid()) != .unknown)
        // A process in another namespace, and invalid ids: ids are below 2^22.
        #expect(ClientGroup(ofProcess: 0) == .unknown)
        #expect(ClientGroup(ofProcess: .max) == .unknown)
        #expect(ClientGroup(ofProcess: -1) == .unknown)
    }

    @Test func `connections of one process are limited`() throws {
        var limits = ControlLimits()
        limits.connectionsPerGroup = 1
        let fixture = try ControlFixture(limits: limits)
        let first = try fixture.connect()
        let second = try fixture.connect()
        _ = try second.receive()
        #expect(!second.hasEnded)
        // It makes no call.
        try fixture.pass(.seconds(3))
        _ = try second.receive()
        #expect(second.hasEnded)
        try first.close()
        let third = try fixture.connect()
        _ = try third.receive()
        #expect(!third.hasEnded)
    }

    @Test(arguments: ["x\0", "{}\0", "[]\0", "\0", #"{"method":"a.B","more":1}"# + "\0"])
    func `an invalid call ends the connection`(text: String) throws {
        let fixture = try ControlFixture()
        let client = try fixture.connect()
        try client.send(Array(text.utf8))
        #expect(try client.receive().isEmpty)
        #expect(client.hasEnded)
        #expect(fixture.server.connectionCount == 0)
    }

    @Test func `a message that is too long ends the connection`() throws {
        let fixture = try ControlFixture()
        let client = try fixture.connect()
        try client.send([UInt8](repeating: 0x20, count: VarlinkFramer.maxMessage + 100))
        #expect(try client.receive().isEmpty)
        #expect(client.hasEnded)
    }

    @Test func `a client that does not read is dropped with a last error`() throws {
        let fixture = try ControlFixture()
        let client = try fixture.connect()
        try client.call(watch)
        var closed = 0
        fixture.calls[0].onClosed = { closed += 1 }
        let text = JSON.string(String(repeating: "x", count: 60_000))
        var sent = 0
        while fixture.calls[0].isOpen, sent < 100 {
            fixture.calls[0].replyContinuing(["text": text])
            sent += 1
        }
        #expect(closed == 1)
        #expect((10..<30).contains(sent))
        let replies = try client.replies()
        #expect(replies.last?.error == ControlErrorName.limitExceeded.rawValue)
        #expect(replies.dropLast().allSatisfy { $0.continues && $0.parameters["text"] == text })
        #expect(replies.count == sent)
        #expect(client.hasEnded)
        #expect(fixture.server.connectionCount == 0)
    }

    @Test func `one message of the maximum length does not drop a client`() throws {
        let fixture = try ControlFixture()
        let client = try fixture.connect()
        try client.call(status)
        let text = JSON.string(String(repeating: "x", count: 1_048_000))
        fixture.calls[0].reply(["text": text])
        #expect(fixture.server.connectionCount == 1)
        #expect(try client.replies() == [VarlinkReply(parameters: ["text": text])])
    }

    @Test func `a client that reads nothing before the timeout is dropped`() throws {
        let fixture = try ControlFixture()
        let client = try fixture.connect()
        try client.call(watch)
        let call = fixture.calls[0]
        let text = JSON.string(String(repeating: "x", count: 300_000))
        call.replyContinuing(["text": text])
        call.replyContinuing(["text": text])
        try fixture.pass(.seconds(29))
        #expect(call.isOpen)
        try fixture.pass(.seconds(2))
        #expect(!call.isOpen)
        #expect(fixture.server.connectionCount == 0)
        #expect(try client.replies().last?.error == ControlErrorName.limitExceeded.rawValue)
    }

    @Test func `a client that reads something in time is kept`() throws {
        let fixture = try ControlFixture()
        let client = try fixture.connect()
        try client.call(watch)
        let call = fixture.calls[0]
        let text = JSON.string(String(repeating: "x", count: 700_000))
        call.replyContinuing(["text": text])
        try fixture.pass(.seconds(29))
        #expect(try !client.receive().isEmpty)
        call.replyContinuing(["text": text])
        try fixture.pass(.seconds(2))
        #expect(call.isOpen)
        #expect(try !client.receive().isEmpty)
        try fixture.pass(.seconds(60))
        #expect(call.isOpen)
    }

    @Test func `nothing is read from a client that does not read, and reading resumes afterwards`() throws {
        let fixture = try ControlFixture()
        let text = JSON.string(String(repeating: "x", count: 200_000))
        fixture.serve = { $0.reply(["text": text]) }
        let client = try fixture.connect()
        for _ in 0..<20 { try client.call(status) }
        #expect(fixture.calls.count < 10)
        var received = 0
        while received < 20, !client.hasEnded {
            let replies = try client.receive().count(where: { $0 == 0 })
            if replies == 0 { break }
            received += replies
        }
        #expect(received == 20)
    }
}

struct ControlServerEndTests {
    @Test func `a client that half-closed gets its reply, then the end`() throws {
        let fixture = try ControlFixture()
        let client = try fixture.connect()
        try client.call(status, watch)
        try client.halfClose()
        #expect(try client.receive().isEmpty)
        #expect(!client.hasEnded)
        fixture.calls[0].reply(["n": 1])
        fixture.calls[1].replyContinuing(["n": 2])
        fixture.calls[1].reply(["n": 3])
        #expect(try client.replies().map { $0.parameters["n"] } == [1, 2, 3])
        #expect(client.hasEnded)
        #expect(fixture.server.connectionCount == 0)
    }

    @Test func `a client that half-closed right after introspection gets its reply`() throws {
        let fixture = try ControlFixture()
        let client = try fixture.connect()
        try client.call(VarlinkCall(method: "org.varlink.service.GetInfo"))
        try client.halfClose()
        #expect(try client.replies().count == 1)
        #expect(client.hasEnded)
    }

    @Test(arguments: [status, watch])
    func `a client that disconnects is noticed`(call: VarlinkCall) throws {
        let fixture = try ControlFixture()
        let client = try fixture.connect()
        try client.call(call)
        var closed = 0
        fixture.calls[0].onClosed = { closed += 1 }
        try client.close()
        #expect(closed == 1)
        #expect(!fixture.calls[0].isOpen)
        #expect(fixture.server.connectionCount == 0)
    }

    @Test func `a client that half-closed and then disconnects is noticed`() throws {
        let fixture = try ControlFixture()
        let client = try fixture.connect()
        try client.call(watch)
        var closed = 0
        fixture.calls[0].onClosed = { closed += 1 }
        try client.halfClose()
        #expect(closed == 0)
        try client.close()
        #expect(closed == 1)
        #expect(fixture.server.connectionCount == 0)
    }

    @Test func `a client that disconnects while nothing is read from it is noticed`() throws {
        let fixture = try ControlFixture()
        let client = try fixture.connect()
        try client.call(watch, status, status, status, status, status)
        var closed = 0
        fixture.calls[0].onClosed = { closed += 1 }
        try client.close()
        #expect(closed == 1)
        #expect(fixture.calls.count == 1)
        #expect(fixture.server.connectionCount == 0)
    }

    @Test func `a handler set too late is called immediately`() throws {
        let fixture = try ControlFixture()
        let client = try fixture.connect()
        try client.call(watch)
        try client.close()
        var closed = 0
        fixture.calls[0].onClosed = { closed += 1 }
        #expect(closed == 1)
        fixture.calls[0].onClosed = nil
        #expect(closed == 1)
    }

    @Test func `the handler is not called after the last reply`() throws {
        let fixture = try ControlFixture()
        let client = try fixture.connect()
        try client.call(status)
        var closed = 0
        fixture.calls[0].onClosed = { closed += 1 }
        fixture.calls[0].reply([:])
        try client.close()
        #expect(closed == 0)
    }

    @Test func `oneway calls of a client that has disconnected are served`() throws {
        let fixture = try ControlFixture()
        fixture.serve = { $0.reply([:]) }
        let client = try fixture.connect()
        let oneway = VarlinkCall(method: AppMethod.invalidate.rawValue, oneway: true)
        try client.call(oneway, oneway, oneway)
        try client.close()
        #expect(fixture.calls.count == 3)
    }

    @Test func `stopping ends every connection`() throws {
        let fixture = try ControlFixture()
        let idle = try fixture.connect()
        let busy = try fixture.connect()
        try busy.call(watch)
        var closed = 0
        fixture.calls[0].onClosed = { closed += 1 }
        fixture.server.stop()
        #expect(closed == 1)
        for client in [idle, busy] {
            #expect(try client.receive().isEmpty)
            #expect(client.hasEnded)
        }
        #expect(fixture.server.connectionCount == 0)
    }

    @Test func `clients of a listening socket are served, until it stops accepting`() throws {
        let fixture = try ControlFixture()
        fixture.serve = { $0.reply(["x": 1]) }
        var template = Array("/tmp/control-XXXXXX".utf8CString)
        let folder = try #require(mkdtemp(&template).map { String(cString: $0) })
        defer { rmdir(folder) }
        let path = folder + "/control.socket"
        fixture.server.serve(try Listener(unixPath: path, on: fixture.loop), role: .control)
        let client = try ByteStream(UnixSocket.connect(to: path), on: fixture.loop)
        var received: [UInt8] = []
        client.onRead = { received += $0 }
        client.write(status.encoded())
        try fixture.turn()
        #expect(received == VarlinkReply(parameters: ["x": 1]).encoded())
        fixture.server.stopAccepting()
        #expect(throws: Errno.self) { try UnixSocket.connect(to: path).close() }
        client.write(status.encoded())
        try fixture.turn()
        #expect(received.count(where: { $0 == 0 }) == 2)
        client.close()
        try fixture.turn()
    }
}
