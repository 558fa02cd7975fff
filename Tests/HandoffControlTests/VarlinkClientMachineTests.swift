import HandoffJSON
import Testing

@testable import HandoffControl

private typealias Machine = VarlinkClientMachine
private typealias Action = VarlinkClientMachine.Action

private let plain = VarlinkCall(method: "a.Plain")
private let more = VarlinkCall(method: "a.More", more: true)
private let oneway = VarlinkCall(method: "a.Oneway", oneway: true)
private let upgrade = VarlinkCall(method: "a.Upgrade", upgrade: true)

private func id(_ number: UInt64) -> VarlinkCallID {
    VarlinkCallID(number: number)
}

/// A machine that has sent these calls.
private func waiting(for calls: VarlinkCall...) -> Machine {
    var machine = Machine()
    for (position, call) in calls.enumerated() {
        let (number, actions) = machine.call(call)
        #expect(number == id(UInt64(position + 1)))
        #expect(actions == [.send(call.encoded())])
    }
    return machine
}

private func upgraded() -> Machine {
    var machine = waiting(for: upgrade)
    #expect(machine.received(VarlinkReply().encoded()) == [.upgraded(id(1), VarlinkReply(), [])])
    return machine
}

private func closed() -> Machine {
    var machine = Machine()
    #expect(machine.end() == [.close(.ended)])
    return machine
}

struct VarlinkClientOpenTests {
    private let answer = VarlinkReply(parameters: ["x": 1])
    private let part = VarlinkReply(parameters: ["x": 2], continues: true)
    private let failure = VarlinkReply(error: "a.E", parameters: ["x": 3])

    @Test func `replies arrive in the order of the calls`() {
        var machine = waiting(for: plain, more, plain)
        #expect(machine.outstanding == 3)
        let bytes = [answer, part, part, failure, answer].flatMap { $0.encoded() }
        #expect(
            machine.received(bytes) == [
                .reply(id(1), answer), .reply(id(2), part), .reply(id(2), part), .reply(id(2), failure),
                .reply(id(3), answer),
            ])
        #expect(machine.outstanding == 0)
        #expect(machine.canCall)
    }

    @Test func `a reply may arrive byte by byte`() {
        var machine = waiting(for: plain)
        for byte in answer.encoded().dropLast() { #expect(machine.received([byte]) == []) }
        #expect(machine.received([0]) == [.reply(id(1), answer)])
    }

    @Test func `a oneway call waits for nothing`() {
        var machine = waiting(for: oneway, plain)
        #expect(machine.outstanding == 1)
        #expect(machine.received(answer.encoded()) == [.reply(id(2), answer)])
    }

    @Test func `a reply without a call closes`() {
        for var machine in [Machine(), waiting(for: oneway)] {
            let actions = machine.received(answer.encoded())
            guard actions.count == 1, case .close(.protocolViolation) = actions[0] else {
                Issue.record("\(actions)")
                return
            }
        }
    }

    @Test func `a reply that continues without more closes`() {
        var machine = waiting(for: plain, plain)
        let actions = machine.received(part.encoded())
        #expect(actions.prefix(2) == [.abandon(id(1)), .abandon(id(2))])
        guard actions.count == 3, case .close(.protocolViolation) = actions[2] else {
            Issue.record("\(actions)")
            return
        }
    }

    @Test func `an invalid reply closes after the replies before it`() {
        var machine = waiting(for: plain, plain)
        let actions = machine.received(answer.encoded() + [0x78, 0])
        #expect(actions.prefix(2) == [.reply(id(1), answer), .abandon(id(2))])
        guard actions.count == 3, case .close(.protocolViolation) = actions[2] else {
            Issue.record("\(actions)")
            return
        }
    }

    @Test func `a message that is too long closes`() {
        var machine = waiting(for: plain)
        let bytes = [UInt8](repeating: 0x20, count: VarlinkFramer.maxMessage + 1)
        #expect(machine.received(bytes) == [.abandon(id(1)), .close(.protocolViolation(.messageTooLarge))])
    }

    @Test func `every end abandons waiting calls`() {
        var ended = waiting(for: plain, more)
        #expect(ended.receivedEnd() == [.abandon(id(1)), .abandon(id(2)), .close(.serverEnded)])
        var lost = waiting(for: plain)
        #expect(lost.lost() == [.abandon(id(1)), .close(.connectionLost)])
        var closed = waiting(for: upgrade)
        #expect(closed.end() == [.abandon(id(1)), .close(.ended)])
        #expect(!closed.canCall)
        var idle = Machine()
        #expect(idle.receivedEnd() == [.close(.serverEnded)])
    }
}

struct VarlinkClientUpgradeTests {
    @Test func `bytes after the reply are raw`() {
        var machine = waiting(for: plain, upgrade)
        #expect(!machine.canCall)
        let reply = VarlinkReply(parameters: ["x": 1])
        #expect(
            machine.received(reply.encoded() + reply.encoded() + [1, 0, 2])
                == [.reply(id(1), reply), .upgraded(id(2), reply, [1, 0, 2])])
        #expect(machine.outstanding == 0)
        #expect(!machine.canCall)
    }

    @Test func `a refused upgrade leaves the connection unchanged`() {
        var machine = waiting(for: upgrade)
        let reply = VarlinkReply(error: "a.E")
        #expect(machine.received(reply.encoded()) == [.reply(id(1), reply)])
        #expect(machine.canCall)
        #expect(machine.call(plain).actions == [.send(plain.encoded())])
    }

    @Test func `an upgraded machine does nothing more`() {
        var machine = upgraded()
        #expect(machine.lost() == [])
        #expect(machine.end() == [])
        #expect(machine.outstanding == 0)
    }
}

struct VarlinkClientClosedTests {
    @Test func `a closed machine ignores everything`() {
        var machine = closed()
        #expect(machine.received(VarlinkReply().encoded()) == [])
        #expect(machine.receivedEnd() == [])
        #expect(machine.lost() == [])
        #expect(machine.end() == [])
        #expect(!machine.canCall)
    }
}

/// Cases that only a programming error can cause.
struct VarlinkClientMisuseTests {
    @Test func `a call that cannot be sent traps`() async {
        await #expect(processExitsWith: .failure) {
            var machine = VarlinkClientMachine()
            _ = machine.end()
            _ = machine.call(VarlinkCall(method: "a.B"))
        }
        await #expect(processExitsWith: .failure) {
            var machine = VarlinkClientMachine()
            _ = machine.call(VarlinkCall(method: "a.B", upgrade: true))
            _ = machine.call(VarlinkCall(method: "a.B"))
        }
        await #expect(processExitsWith: .failure) {
            var machine = VarlinkClientMachine()
            _ = machine.call(VarlinkCall(method: "a.B", upgrade: true))
            _ = machine.received(VarlinkReply().encoded())
            _ = machine.received([1])
        }
    }
}
