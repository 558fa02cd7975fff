internal import CSystemd
internal import Dispatch
internal import Glibc
package import LoopIO
internal import Synchronization

/// A loop on the test's thread, with a clock that advances while the test waits. Tests also step the clock.
///
/// The clock advances in real time only while the loop and its workers are idle. A timeout of the product therefore
/// does not expire because the machine is slow.
package final class ClockedLoop {
    /// The condition that a test waits for did not become true.
    package struct Timeout: Error, CustomStringConvertible {
        /// What the test waited for.
        package let description: String
    }

    private final class Ticks: Sendable {
        let count = Atomic(0)
    }

    /// Seconds of real time after which a wait has failed.
    private static let timeout = 120
    private static let tick = Duration.milliseconds(10)
    /// The ticks that the clock makes up for once the loop is idle.
    private static let maxPendingTicks = 10
    /// The ticks, or the turns of the loop, after which the clock advances although the loop or a worker is busy: a
    /// busy one may itself wait for a timer.
    private static let maxBusyTicks = 20
    private static let maxBusyTurns: UInt64 = 100
    /// Milliseconds of real time that a step of the clock waits for a busy loop.
    private static let maxPendingTime = 10_000

    package let clock = ManualClock()
    package let loop: EventLoop
    private let ticker: any DispatchSourceTimer
    private let ticks = Ticks()
    private var isStanding = false
    /// The ticks that were handled.
    private var lastTick = 0
    /// The ticks by which the clock is late.
    private var pendingTicks = 0
    /// The ticks since the clock last advanced, and the turns of the loop before them.
    private var busyTicks = 0
    private var busyTurns: UInt64 = 0
    /// How many waits are inside each other; the clock advances while there are any.
    private var waits = 0

    package init() throws {
        let loop = try EventLoop(clock: clock)
        let ticks = ticks
        self.loop = loop
        ticker = DispatchSource.makeTimerSource(queue: .global())
        ticker.schedule(deadline: .now() + .milliseconds(10), repeating: .milliseconds(10))
        ticker.setEventHandler {
            ticks.count.add(1, ordering: .relaxed)
            loop.stop()
        }
    }

    deinit {
        // A suspended source must not be released.
        ticker.resume()
        ticker.cancel()
    }

    /// Runs the loop until `isDone`, which is evaluated after each event and each tick of the clock.
    ///
    /// - Throws: `Timeout`, or the error of `isDone`.
    package func run(_ what: String, until isDone: () throws -> Bool) throws {
        let isLate = Atomic(false)
        let guardian = DispatchWorkItem { isLate.store(true, ordering: .relaxed) }
        // Only for a test that would hang.
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(Self.timeout), execute: guardian)
        if waits == 0 { ticker.resume() }
        waits += 1
        defer {
            guardian.cancel()
            waits -= 1
            if waits == 0 { ticker.suspend() }
        }
        while try !isDone() {
            if isLate.load(ordering: .relaxed) { throw Timeout(description: what) }
            try loop.run()
            advance()
        }
    }

    /// Advances the clock after a tick, unless something is in progress.
    private func advance() {
        let passed = ticks.count.load(ordering: .relaxed) - lastTick
        guard passed > 0 else { return }
        lastTick += passed
        guard !isStanding else { return }
        pendingTicks = min(pendingTicks + passed, Self.maxPendingTicks)
        busyTicks += 1
        if isIdle {
            clock.advance(by: Self.tick * pendingTicks)
            pendingTicks = 0
        } else if busyTicks >= Self.maxBusyTicks || loop.turns &- busyTurns >= Self.maxBusyTurns {
            clock.advance(by: Self.tick)
        } else {
            return
        }
        busyTicks = 0
        busyTurns = loop.turns
    }

    /// True if no descriptor is ready and no worker owes the loop a result.
    private var isIdle: Bool {
        var descriptor = pollfd(fd: sd_event_get_fd(loop.event), events: Int16(POLLIN), revents: 0)
        return loop.pendingResults == 0 && Glibc.poll(&descriptor, 1, 0) == 0
    }

    /// Runs the loop until `isDone`, which is evaluated after each tick of the clock.
    package func poll(_ what: String, until isDone: () throws -> Bool) throws {
        var last: Int?
        try run(what) {
            let now = ticks.count.load(ordering: .relaxed)
            if last == now { return false }
            last = now
            return try isDone()
        }
    }

    /// Performs `body` while the clock stands: for what must be done within a time of the product, and waits for no timer.
    package func withClockStopped<Result>(_ body: () throws -> Result) rethrows -> Result {
        isStanding = true
        defer { isStanding = false }
        return try body()
    }

    /// Advances the clock once the loop and its workers are idle, so that what is in transit arrives before. Due timers
    /// run while the test waits for its next event.
    package func pass(_ time: Duration) {
        for _ in 0..<Self.maxPendingTime {
            // An error of the loop also ends the next wait of the test.
            guard (try? loop.runTurns(3)) != nil, !isIdle else { break }
            if loop.pendingResults > 0 { usleep(1000) }
        }
        clock.advance(by: time)
    }
}
