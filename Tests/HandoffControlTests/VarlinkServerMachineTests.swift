import HandoffJSON
import Testing

@testable import HandoffControl

private typealias Machine = VarlinkServerMachine
private typealias Action = VarlinkServerMachine.Action

private let plain = VarlinkCall(method: "a.Plain")
private let more = VarlinkCall(method: "a.More", more: true)
private let oneway = VarlinkCall(method: "a.Oneway", oneway: true)
private let upgrade = VarlinkCall(method: "a.Upgrade", upgrade: true)

private func id(_ number: UInt64) -> VarlinkCallID {
    VarlinkCallID(number: number)
}

private func sent(_ parameters: JSONObject, continues: Bool = false) -> Action {
    .send(VarlinkReply(parameters: parameters, continues: continues).encoded())
}

private func sent(error: String, _ parameters: JSONObject = [:]) -> Action {
    .send(VarlinkReply(error: error, parameters: parameters).encoded())
}

/// A machine that serves one call.
private func serving(_ call: VarlinkCall) -> Machine {
    var machine = Machine()
    #expect(machine.received(call.encoded()) == [.dispatch(call, id(1))])
    return machine
}

private func upgraded() -> Machine {
    var machine = serving(upgrade)
    #expect(machine.upgrade(id(1), [:]) == [sent([:]), .upgrade(id(1))])
    return machine
}

private func closed() -> Machine {
    var machine = Machine()
    #expect(machine.end() == [.close(.ended)])
    return machine
}

struct VarlinkServerIdleTests {
    @Test func `a call is dispatched`() {
        var machine = Machine()
        #expect(machine.wantsInput)
        #expect(machine.received(plain.encoded()) == [.dispatch(plain, id(1))])
        #expect(machine.outstanding == 1)
    }

    @Test func `nothing happens for no bytes or half a call`() {
        var machine = Machine()
        #expect(machine.received([]) == [])
        #expect(machine.received(Array(plain.encoded().dropLast())) == [])
        #expect(machine.outstanding == 0)
        #expect(machine.received([0]) == [.dispatch(plain, id(1))])
    }

    @Test func `the end of an idle client closes`() {
        var machine = Machine()
        #expect(machine.receivedEnd() == [.close(.clientEnded)])
        #expect(!machine.wantsInput)
    }

    @Test func `half a call at the end is dropped`() {
        var machine = Machine()
        #expect(machine.received([0x7B]) == [])
        #expect(machine.receivedEnd() == [.close(.clientEnded)])
    }

    @Test func `a lost connection closes`() {
        var machine = Machine()
        #expect(machine.lost() == [.close(.connectionLost)])
    }

    @Test func `the driver may end the connection`() {
        var machine = Machine()
        #expect(machine.end(error: "a.E") == [.close(.ended)])
    }

    @Test(arguments: ["{}", "[]", "x", #"{"method":"a.B","y":1}"#])
    func `an invalid call closes`(text: String) {
        var machine = Machine()
        let actions = machine.received(Array(text.utf8) + [0])
        guard actions.count == 1, case .close(.protocolViolation) = actions[0] else {
            Issue.record("\(actions)")
            return
        }
    }

    @Test(arguments: [
        (#"{"method":"a.B","parameters":{"title":"\ud83d"}}"#, "half of a surrogate pair in a string at byte "),
        (
            #" { "parameters" : {"title":"\ude00","method":"x"}, "method" : "a.B", "more":true } "#,
            "half of a surrogate"
        ),
        (#"{"method":"a.B","parameters":{"n":1e999,"s":"}\"]"}}"#, "number out of range"),
        (#"{"method":"a.B","parameters":{"a":1,"a":2}}"#, "duplicate key"),
        (#"{"method":"a.B","parameters":{"a\u0000":1}}"#, "NUL in a key"),
        (
            "{\"method\":\"a.B\",\"parameters\":" + String(repeating: "[", count: 40)
                + String(repeating: "]", count: 40) + "}", "too deep"
        ),
        (
            "{\"method\":\"a.B\",\"parameters\":{\"a\":[1" + String(repeating: ",1", count: 4096) + "]}}",
            "too many members"
        ),
    ])
    func `a call with invalid content is answered with an error, and the next one is served`(
        text: String, reason: String
    )
        throws
    {
        var machine = Machine()
        let actions = machine.received(Array(text.utf8) + [0] + plain.encoded())
        guard actions.count == 2, case .send(let bytes) = actions[0] else {
            Issue.record("\(actions)")
            return
        }
        let reply = try VarlinkReply(decoding: bytes.dropLast())
        #expect(reply.error == "org.varlink.service.InvalidParameter")
        #expect(reply.parameters["message"]?.string?.contains(reason) == true)
        #expect(actions[1] == .dispatch(plain, id(1)))
    }

    @Test func `bytes that are not UTF-8 fail only their call`() {
        var machine = Machine()
        let call = Array(#"{"method":"a.B","parameters":{"title":""#.utf8) + [0xE9] + Array(#""}}"#.utf8) + [0]
        #expect(machine.received(call).count == 1)
        #expect(machine.received(plain.encoded()) == [.dispatch(plain, id(1))])
    }

    @Test func `a oneway call with invalid content is not answered`() {
        var machine = Machine()
        let call = Array(#"{"method":"a.B","oneway":true,"parameters":{"title":"\ud83d"}}"#.utf8) + [0]
        #expect(machine.received(call + plain.encoded()) == [.dispatch(plain, id(1))])
    }

    @Test func `calls with invalid content are answered in their turn`() throws {
        var machine = serving(plain)
        let refused = Array(#"{"method":"a.B","parameters":{"title":"\ud83d"}}"#.utf8) + [0]
        #expect(machine.received(refused + refused + more.encoded()) == [])
        #expect(!machine.wantsInput)
        let actions = machine.reply(to: id(1), [:], continues: false)
        #expect(actions.count == 4)
        #expect(actions.first == sent([:]))
        #expect(actions.last == .dispatch(more, id(2)))
    }

    @Test(arguments: [
        #"{"method":"a.B","parameters":{"title":"\ud83d"}"#, #"{"method":"a.B","parameters":{"title":"\ud83d"}}}"#,
        #"{"parameters":{"title":"\ud83d"}}"#, #"[{"method":"a.B","title":"\ud83d"}]"#,
        #"{"method":7,"title":"\ud83d"}"#,
        #"{"method":"a.B","more":true,"oneway":true,"parameters":{"title":"\ud83d"}}"#, #""method":"a.B\ud83d""#,
        #"{"method":"a.B","title":"\ud83d"} {}"#, #"{"method":"a.B","title":"\"#,
    ])
    func `an invalid call with such content closes`(text: String) {
        var machine = Machine()
        let actions = machine.received(Array(text.utf8) + [0])
        guard actions.count == 1, case .close(.protocolViolation(.unreadable)) = actions[0] else {
            Issue.record("\(actions)")
            return
        }
    }

    @Test func `a message that is too long closes`() {
        var machine = Machine()
        let bytes = [UInt8](repeating: 0x20, count: VarlinkFramer.maxMessage + 1)
        #expect(machine.received(bytes) == [.close(.protocolViolation(.messageTooLarge))])
    }
}

struct VarlinkServerServingTests {
    @Test func `a reply ends the call`() {
        var machine = serving(plain)
        #expect(machine.reply(to: id(1), ["x": 1], continues: false) == [sent(["x": 1])])
        #expect(machine.outstanding == 0)
        #expect(machine.received(more.encoded()) == [.dispatch(more, id(2))])
    }

    @Test func `replies that continue leave the call open`() {
        var machine = serving(more)
        #expect(machine.reply(to: id(1), ["x": 1], continues: true) == [sent(["x": 1], continues: true)])
        #expect(machine.reply(to: id(1), ["x": 2], continues: true) == [sent(["x": 2], continues: true)])
        #expect(machine.outstanding == 1)
        #expect(machine.reply(to: id(1), [:], continues: false) == [sent([:])])
        #expect(machine.outstanding == 0)
    }

    @Test func `an error ends the call`() {
        var machine = serving(more)
        #expect(machine.fail(id(1), error: "a.E", parameters: ["x": 1]) == [sent(error: "a.E", ["x": 1])])
        #expect(machine.outstanding == 0)
    }

    @Test func `a oneway call gets no reply`() {
        var machine = serving(oneway)
        #expect(machine.reply(to: id(1), ["x": 1], continues: false) == [])
        #expect(machine.received(oneway.encoded()) == [.dispatch(oneway, id(2))])
        #expect(machine.fail(id(2), error: "a.E", parameters: [:]) == [])
        #expect(machine.outstanding == 0)
    }

    @Test func `pipelined calls are served in order`() {
        var machine = serving(plain)
        #expect(machine.received(more.encoded() + oneway.encoded()) == [])
        #expect(machine.outstanding == 3)
        #expect(machine.reply(to: id(1), [:], continues: false) == [sent([:]), .dispatch(more, id(2))])
        #expect(machine.reply(to: id(2), [:], continues: true) == [sent([:], continues: true)])
        #expect(machine.fail(id(2), error: "a.E", parameters: [:]) == [sent(error: "a.E"), .dispatch(oneway, id(3))])
        #expect(machine.reply(to: id(3), [:], continues: false) == [])
        #expect(machine.outstanding == 0)
    }

    @Test func `four calls are read ahead, and the rest waits`() {
        var machine = Machine()
        let calls = (1...6).map { VarlinkCall(method: "a.M\($0)") }
        #expect(machine.received(calls.flatMap { $0.encoded() }) == [.dispatch(calls[0], id(1))])
        #expect(machine.outstanding == 4)
        #expect(!machine.wantsInput)
        for number in 1..<6 {
            let actions = machine.reply(to: id(UInt64(number)), [:], continues: false)
            #expect(actions == [sent([:]), .dispatch(calls[number], id(UInt64(number + 1)))])
        }
        #expect(machine.wantsInput)
        #expect(machine.reply(to: id(6), [:], continues: false) == [sent([:])])
    }

    @Test func `an invalid call after a call abandons it`() {
        var machine = Machine()
        let actions = machine.received(plain.encoded() + [0x78, 0])
        #expect(actions.count == 3)
        #expect(actions.prefix(2) == [.dispatch(plain, id(1)), .abandon(id(1))])
        // The driver replies during dispatch, which is too late.
        #expect(machine.reply(to: id(1), [:], continues: false) == [])
    }

    @Test func `a client that half-closed gets every reply, then the end`() {
        var machine = serving(plain)
        #expect(machine.received(more.encoded()) == [])
        #expect(machine.receivedEnd() == [])
        #expect(!machine.wantsInput)
        #expect(machine.reply(to: id(1), [:], continues: false) == [sent([:]), .dispatch(more, id(2))])
        #expect(machine.reply(to: id(2), [:], continues: true) == [sent([:], continues: true)])
        #expect(machine.reply(to: id(2), [:], continues: false) == [sent([:]), .close(.clientEnded)])
    }

    @Test(arguments: [plain, more, oneway, upgrade])
    func `a lost connection abandons the call`(call: VarlinkCall) {
        var machine = serving(call)
        #expect(machine.lost() == [.abandon(id(1)), .close(.connectionLost)])
        #expect(machine.outstanding == 0)
    }

    @Test func `calls that were not dispatched are dropped silently`() {
        var machine = serving(plain)
        #expect(machine.received(plain.encoded()) == [])
        #expect(machine.lost() == [.abandon(id(1)), .close(.connectionLost)])
    }

    @Test func `the driver may end the connection with an error`() {
        var machine = serving(more)
        #expect(
            machine.end(error: "a.E", parameters: ["x": 1])
                == [sent(error: "a.E", ["x": 1]), .abandon(id(1)), .close(.ended)])
        var silent = serving(more)
        #expect(silent.end() == [.abandon(id(1)), .close(.ended)])
        var unanswered = serving(oneway)
        #expect(unanswered.end(error: "a.E") == [.abandon(id(1)), .close(.ended)])
    }

    @Test func `an unreadable call is answered with an error`() {
        var idle = Machine()
        #expect(
            idle.refusedInput(error: "a.E", parameters: ["x": 1]) == [sent(error: "a.E", ["x": 1]), .close(.ended)])
        #expect(idle.refusedInput(error: "a.E", parameters: [:]) == [])
        var busy = serving(more)
        #expect(
            busy.refusedInput(error: "a.E", parameters: [:]) == [sent(error: "a.E"), .abandon(id(1)), .close(.ended)])
        var upgraded = upgraded()
        #expect(upgraded.refusedInput(error: "a.E", parameters: [:]) == [])
    }
}

struct VarlinkServerUpgradeTests {
    @Test func `an upgrade is answered and the connection handed over`() {
        var machine = serving(upgrade)
        #expect(machine.upgrade(id(1), ["x": 1]) == [sent(["x": 1]), .upgrade(id(1))])
        #expect(!machine.wantsInput)
        #expect(machine.outstanding == 0)
    }

    @Test func `an upgrade may be refused, and the connection continues`() {
        var machine = serving(upgrade)
        #expect(machine.fail(id(1), error: "a.E", parameters: [:]) == [sent(error: "a.E")])
        #expect(machine.received(plain.encoded()) == [.dispatch(plain, id(2))])
    }

    @Test func `bytes in the same read as the call are an error`() {
        var machine = Machine()
        #expect(machine.received(upgrade.encoded() + [1]) == [.close(.bytesAfterUpgradeCall)])
    }

    @Test func `bytes between call and reply are an error`() {
        var machine = serving(upgrade)
        #expect(machine.received([]) == [])
        #expect(machine.received([1]) == [.abandon(id(1)), .close(.bytesAfterUpgradeCall)])
        #expect(machine.upgrade(id(1), [:]) == [])
    }

    @Test func `bytes after an upgrade that waits for its turn are an error`() {
        var machine = serving(plain)
        #expect(machine.received(upgrade.encoded()) == [])
        #expect(machine.received([1]) == [.abandon(id(1)), .close(.bytesAfterUpgradeCall)])
    }

    @Test func `an upgrade after other calls is served in its turn`() {
        var machine = serving(plain)
        #expect(machine.received(upgrade.encoded()) == [])
        #expect(machine.reply(to: id(1), [:], continues: false) == [sent([:]), .dispatch(upgrade, id(2))])
        #expect(machine.upgrade(id(2), [:]) == [sent([:]), .upgrade(id(2))])
    }

    @Test func `a client that half-closed still gets its upgrade`() {
        var machine = serving(upgrade)
        #expect(machine.receivedEnd() == [])
        #expect(machine.upgrade(id(1), [:]) == [sent([:]), .upgrade(id(1))])
    }

    @Test func `an upgraded machine does nothing more`() {
        var machine = upgraded()
        #expect(machine.lost() == [])
        #expect(machine.end(error: "a.E") == [])
        #expect(!machine.wantsInput)
    }
}

struct VarlinkServerClosedTests {
    @Test func `a closed machine ignores everything`() {
        var machine = closed()
        #expect(machine.received(plain.encoded()) == [])
        #expect(machine.receivedEnd() == [])
        #expect(machine.lost() == [])
        #expect(machine.end(error: "a.E") == [])
        #expect(machine.reply(to: id(1), [:], continues: false) == [])
        #expect(machine.reply(to: id(1), [:], continues: true) == [])
        #expect(machine.fail(id(1), error: "a.E", parameters: [:]) == [])
        #expect(machine.upgrade(id(1), [:]) == [])
        #expect(!machine.wantsInput)
        #expect(machine.outstanding == 0)
    }
}

/// Cases that only a programming error can cause.
struct VarlinkServerMisuseTests {
    @Test func `a reply while no call is open traps`() async {
        await #expect(processExitsWith: .failure) {
            var machine = VarlinkServerMachine()
            _ = machine.reply(to: VarlinkCallID(number: 1), [:], continues: false)
        }
        await #expect(processExitsWith: .failure) {
            var machine = VarlinkServerMachine()
            _ = machine.fail(VarlinkCallID(number: 1), error: "a.E", parameters: [:])
        }
        await #expect(processExitsWith: .failure) {
            var machine = VarlinkServerMachine()
            _ = machine.upgrade(VarlinkCallID(number: 1), [:])
        }
    }

    @Test func `replies that the call does not permit trap`() async {
        await #expect(processExitsWith: .failure) {
            var machine = VarlinkServerMachine()
            _ = machine.received(VarlinkCall(method: "a.B").encoded())
            _ = machine.reply(to: VarlinkCallID(number: 1), [:], continues: true)
        }
        await #expect(processExitsWith: .failure) {
            var machine = VarlinkServerMachine()
            _ = machine.received(VarlinkCall(method: "a.B").encoded())
            _ = machine.upgrade(VarlinkCallID(number: 1), [:])
        }
        await #expect(processExitsWith: .failure) {
            var machine = VarlinkServerMachine()
            _ = machine.received(VarlinkCall(method: "a.B").encoded())
            _ = machine.reply(to: VarlinkCallID(number: 2), [:], continues: false)
        }
    }

    @Test func `bytes of an upgraded connection trap`() async {
        await #expect(processExitsWith: .failure) {
            var machine = VarlinkServerMachine()
            _ = machine.received(VarlinkCall(method: "a.B", upgrade: true).encoded())
            _ = machine.upgrade(VarlinkCallID(number: 1), [:])
            _ = machine.received([1])
        }
    }
}
