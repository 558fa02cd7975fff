import HandoffDaemon
import HandoffHandlers
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

struct SleepMachineTests {
    private let begin = MonotonicInstant(nanoseconds: 1_000_000_000_000)

    private var deadline: MonotonicInstant { begin + SleepMachine.leaveTimeout }

    /// A machine that notifies the others that it goes to sleep.
    private func telling() -> SleepMachine {
        var machine = SleepMachine()
        #expect(machine.take(.imminent, now: begin) == .notify(until: deadline))
        return machine
    }

    @Test func `a machine that is awake announces nothing`() {
        var machine = SleepMachine()
        #expect(machine.take(.awake, now: begin) == nil)
        #expect(machine.allKnow() == nil)
        #expect(machine.deadlinePassed(now: begin) == nil)
    }

    @Test func `it sleeps once all are notified, and announces that it is awake`() {
        var machine = telling()
        #expect(machine.take(.imminent, now: begin) == nil, "once")
        #expect(machine.allKnow() == .allow)
        #expect(machine.allKnow() == nil && machine.deadlinePassed(now: deadline) == nil)
        #expect(machine.take(.imminent, now: deadline) == .allow, "also if it has woken for a moment")
        #expect(machine.take(.awake, now: deadline) == .announce)
        #expect(machine.take(.awake, now: deadline) == nil)
        #expect(machine.take(.imminent, now: begin) == .notify(until: deadline), "and sleeps again")
    }

    @Test func `nothing keeps it awake for longer than the timeout`() {
        var machine = telling()
        #expect(machine.deadlinePassed(now: begin) == nil)
        #expect(machine.deadlinePassed(now: deadline) == .allow)
        #expect(machine.allKnow() == nil)
    }

    @Test func `the announcement of sleep is withdrawn if the machine stays awake`() {
        var machine = telling()
        #expect(machine.take(.awake, now: begin) == .announce)
        #expect(machine.allKnow() == nil)
        #expect(machine.deadlinePassed(now: deadline) == nil)
    }
}
