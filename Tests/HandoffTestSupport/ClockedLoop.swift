internal import Dispatch
package import LoopIO
internal import Synchronization

/// A loop on the test's thread, with a clock that advances while the test waits. Tests also step the clock.
package final class ClockedLoop {
    /// The condition that a test waits for did not become true.
    package struct Timeout: Error, CustomStringConvertible {
        /// What the test waited for.
        package let description: String
    }

    private final class Ticks: Sendable {
        let count = Atomic(0)
        /// Whether the clock stands.
        let isStanding = Atomic(false)
    }

    /// Seconds of real time after which a wait has failed.
    private static let timeout = 120

    package let clock = ManualClock()
    package let loop: EventLoop
    private let ticker: any DispatchSourceTimer
    private let ticks = Ticks()
    /// How many waits are inside each other; the clock advances while there are any.
    private var waits = 0

    package init() throws {
        let clock = clock
        let loop = try EventLoop(clock: clock)
        let ticks = ticks
        self.loop = loop
        ticker = DispatchSource.makeTimerSource(queue: .global())
        ticker.schedule(deadline: .now() + .milliseconds(10), repeating: .milliseconds(10))
        ticker.setEventHandler {
            if !ticks.isStanding.load(ordering: .relaxed) { clock.advance(by: .milliseconds(10)) }
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
        }
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
        ticks.isStanding.store(true, ordering: .relaxed)
        defer { ticks.isStanding.store(false, ordering: .relaxed) }
        return try body()
    }

    /// Advances the clock. Due timers run while the test waits for its next event.
    package func pass(_ time: Duration) {
        clock.advance(by: time)
    }
}
