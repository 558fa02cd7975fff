import HandoffDaemon
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

struct SleepLockMachineTests {
    private let begin = MonotonicInstant(nanoseconds: 1_000_000_000_000)

    private func after(_ seconds: Int) -> MonotonicInstant { begin + .seconds(seconds) }

    @Test func `the lock is held while bytes move and a little longer`() {
        var machine = SleepLockMachine()
        #expect(machine.moved(now: begin) == .ask)
        #expect(machine.moved(now: begin) == nil, "it is requested once")
        #expect(machine.answered(given: true, now: begin) == .wake(at: after(5)))
        #expect(machine.moved(now: after(4)) == nil)
        #expect(machine.deadlinePassed(now: after(5)) == .wake(at: after(9)))
        #expect(machine.deadlinePassed(now: after(9)) == .release)
        #expect(machine.deadlinePassed(now: after(9)) == nil)
        #expect(machine.moved(now: after(9)) == .ask, "the next transfer requests it again")
    }

    @Test func `after a refusal nothing is requested for a while`() {
        var machine = SleepLockMachine()
        #expect(machine.moved(now: begin) == .ask)
        #expect(machine.answered(given: false, now: begin) == nil)
        #expect(machine.moved(now: after(1)) == nil)
        #expect(machine.moved(now: after(29)) == nil)
        #expect(machine.moved(now: after(30)) == .ask)
    }

    @Test func `a lock that arrives too late is released`() {
        var machine = SleepLockMachine()
        #expect(machine.moved(now: begin) == .ask)
        #expect(machine.answered(given: true, now: after(5)) == .release)
        #expect(machine.moved(now: after(5)) == .ask)
        #expect(machine.moved(now: after(8)) == nil)
        #expect(machine.answered(given: true, now: after(12)) == .wake(at: after(13)), "bytes moved meanwhile")
    }

    @Test func `nothing is held or requested after it stops`() {
        var machine = SleepLockMachine()
        #expect(machine.stop() == nil)
        #expect(machine.moved(now: begin) == nil)

        machine = SleepLockMachine()
        #expect(machine.moved(now: begin) == .ask)
        #expect(machine.stop() == nil)
        #expect(machine.answered(given: true, now: begin) == .release)
        #expect(machine.answered(given: false, now: begin) == nil)

        machine = SleepLockMachine()
        #expect(machine.moved(now: begin) == .ask)
        #expect(machine.answered(given: true, now: begin) == .wake(at: after(5)))
        #expect(machine.stop() == .release)
        #expect(machine.deadlinePassed(now: after(5)) == nil)
        #expect(machine.stop() == nil)
    }
}

/// The driver, on a loop with a stopped clock.
@Suite(.timeLimit(.minutes(5))) struct SleepLockTests {
    /// The locks that are held, and the number of requests.
    private final class Locks: Sendable {
        struct Refused: Error {}

        final class Held: Sendable {
            let locks: Locks

            init(_ locks: Locks) {
                self.locks = locks
                locks.counts.withLock { $0.held += 1 }
            }

            deinit { locks.counts.withLock { $0.held -= 1 } }
        }

        let counts = Locked((held: 0, asked: 0))
        let refuses: Bool

        init(refuses: Bool = false) { self.refuses = refuses }

        var held: Int { counts.withLock { $0.held } }
        var asked: Int { counts.withLock { $0.asked } }

        func take() throws -> any AnyObject & Sendable {
            counts.withLock { $0.asked += 1 }
            guard !refuses else { throw Refused() }
            return Held(self)
        }
    }

    private let clock = ManualClock()
    private let test: LoopTest
    private let worker: Worker
    private let sink = MemorySink()

    init() throws {
        test = try LoopTest(clock: clock)
        worker = try Worker()
    }

    private func sleepLock(_ locks: Locks) -> SleepLock {
        SleepLock(loop: test.loop, log: Logger(subsystem: "streams", sink: sink, level: .debug)) {
            [worker, test] answer in
            worker.run({ try locks.take() }, on: test.loop) { answer($0.map { $0 as AnyObject }) }
        }
    }

    /// Waits for the worker's task and its answer.
    private func settle() throws {
        worker.run({}, on: test.loop) { [test] _ in test.end() }
        try test.loop.run()
    }

    private func advance(_ duration: Duration) throws {
        clock.advance(by: duration)
        try test.loop.runTurns(2)
    }

    @Test func `the machine is kept awake until five seconds after the last byte`() throws {
        let locks = Locks()
        let lock = sleepLock(locks)
        lock.transferMoved()
        lock.transferMoved()
        try settle()
        #expect(locks.held == 1)
        try advance(.seconds(4))
        lock.transferMoved()
        try advance(.seconds(4))
        #expect(locks.held == 1)
        try advance(.seconds(2))
        #expect(locks.held == 0)
        lock.transferMoved()
        try settle()
        #expect(locks.held == 1)
        lock.stop()
        #expect(locks.held == 0)
        lock.transferMoved()
        try settle()
        #expect((locks.held, locks.asked) == (0, 2))
        worker.stop()
    }

    @Test func `a refusal is logged once and the lock is requested again after half a minute`() throws {
        let locks = Locks(refuses: true)
        let lock = sleepLock(locks)
        for _ in 0..<4 {
            lock.transferMoved()
            try settle()
            try advance(.seconds(10))
        }
        #expect((locks.held, locks.asked) == (0, 2))
        #expect(sink.entries.count == 1)
        worker.stop()
    }

    @Test func `a lock without an owner is released`() throws {
        let locks = Locks()
        var lock: SleepLock? = sleepLock(locks)
        lock?.transferMoved()
        lock = nil
        try settle()
        #expect((locks.held, locks.asked) == (0, 1))
        worker.stop()
    }
}
