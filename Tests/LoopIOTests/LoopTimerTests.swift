import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

@Suite(.timeLimit(.minutes(5))) struct LoopTimerTests {
    @Test func `timers fire in order of their deadlines`() throws {
        let loop = try EventLoop()
        var fired: [Int] = []
        let delays = [7, 3, 9, 1, 5, 2, 8, 4, 6]
        // Relative to one start, because any time may pass between two calls.
        let start = loop.now
        let timers = delays.map { delay in
            let timer = loop.timer(after: .seconds(100)) {
                fired.append(delay)
                if fired.count == delays.count { loop.stop() }
            }
            timer.rearm(at: start + .microseconds(delay * 300))
            return timer
        }
        try loop.runUntilStopped()
        #expect(fired == delays.sorted())
        #expect(timers.allSatisfy { !$0.isArmed })
    }

    @Test func `a timer does not fire early`() throws {
        let loop = try EventLoop()
        let deadline = loop.now + .milliseconds(20)
        var fired: MonotonicInstant?
        let timer = loop.timer(after: .milliseconds(20)) {
            fired = loop.now
            loop.stop()
        }
        let before = loop.turns
        try loop.runUntilStopped()
        #expect(try #require(fired) >= deadline)
        // The loop does not wake early and wait again either.
        #expect(loop.turns - before < 5)
        timer.cancel()
    }

    @Test func `timers of one deadline fire in the order of arming`() throws {
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        var fired: [Int] = []
        let timers = (0..<50).map { number in
            loop.timer(after: .seconds(1)) { fired.append(number) }
        }
        clock.advance(by: .seconds(1))
        try loop.runTurns(3)
        #expect(fired == Array(0..<50))
        #expect(timers.count == 50)
    }

    @Test func `a manual clock fires only timers that are due`() throws {
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        var fired: [String] = []
        let early = loop.timer(after: .seconds(10)) { fired.append("early") }
        let late = loop.timer(after: .seconds(20)) { fired.append("late") }
        clock.advance(by: .milliseconds(9_999))
        try loop.runTurns(3)
        #expect(fired == [])
        clock.advance(by: .milliseconds(1))
        try loop.runTurns(3)
        #expect(fired == ["early"])
        clock.advance(by: .seconds(3600))
        try loop.runTurns(3)
        #expect(fired == ["early", "late"])
        #expect(!early.isArmed && !late.isArmed)
        #expect(loop.now == clock.now)
    }

    @Test(arguments: [Duration.zero, .seconds(-5)])
    func `a deadline in the past fires in a later turn`(_ delay: Duration) throws {
        for clock in [nil, ManualClock()] {
            let loop = try EventLoop(clock: clock)
            var fired = false
            let timer = loop.timer(after: delay) {
                fired = true
                loop.stop()
            }
            #expect(!fired)
            try loop.run()
            #expect(fired)
            timer.cancel()
        }
    }

    @Test func `rearming replaces the deadline`() throws {
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        var count = 0
        let timer = loop.timer(after: .seconds(1)) { count += 1 }
        timer.rearm(after: .seconds(5))
        clock.advance(by: .seconds(4))
        try loop.runTurns(3)
        #expect(count == 0)
        clock.advance(by: .seconds(1))
        try loop.runTurns(3)
        #expect(count == 1)
        timer.rearm(at: clock.now + .seconds(1))
        clock.advance(by: .seconds(1))
        try loop.runTurns(3)
        #expect(count == 2)
    }

    @Test func `cancelled and released timers do not fire`() throws {
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        var count = 0
        let cancelled = loop.timer(after: .seconds(1)) { count += 1 }
        cancelled.cancel()
        cancelled.rearm(after: .zero)
        var dropped: LoopTimer? = loop.timer(after: .seconds(1)) { count += 1 }
        #expect(dropped?.isArmed == true)
        dropped = nil
        clock.advance(by: .seconds(1))
        try loop.runTurns(3)
        #expect(count == 0)
    }

    @Test func `a handler may cancel a timer that is due too`() throws {
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        var second: LoopTimer?
        var count = 0
        let first = loop.timer(after: .seconds(1)) { second?.cancel() }
        second = loop.timer(after: .seconds(1)) { count += 1 }
        clock.advance(by: .seconds(1))
        try loop.runTurns(3)
        #expect(count == 0)
        #expect(!first.isArmed)
    }

    @Test func `a timer that rearms itself for now does not starve descriptors`() throws {
        let loop = try EventLoop()
        let pair = try Ends.sockets()
        writeNow([1], to: pair.second)
        var count = 0
        var timer: LoopTimer?
        timer = loop.timer(after: .zero) {
            count += 1
            if count == 100_000 { loop.stop() }
            timer?.rearm(after: .zero)
        }
        let source = try loop.watch(pair.first, .readable) { _ in loop.stop() }
        try loop.runUntilStopped()
        #expect(count < 100)
        source.cancel()
        timer = nil
    }

    @Test func `the clock advances and does not go back`() throws {
        let loop = try EventLoop()
        let first = loop.now
        let second = loop.now
        #expect(second >= first)
        #expect(second - first < .seconds(60))
    }
}
