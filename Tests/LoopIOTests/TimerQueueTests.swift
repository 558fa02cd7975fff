import HandoffModel
import LoopIO
import Testing

struct TimerQueueTests {
    private func instant(_ number: UInt64) -> MonotonicInstant { MonotonicInstant(nanoseconds: number) }

    @Test(arguments: [1, 2, 3, 10, 1000])
    func `removes timers in order of deadline and arming`(_ count: Int) {
        var random = SystemRandomNumberGenerator()
        var queue = TimerQueue<Int>()
        let deadlines = (0..<count).map { _ in UInt64.random(in: 0..<50, using: &random) }
        for (number, deadline) in deadlines.enumerated() {
            _ = queue.add(number, at: instant(deadline), accuracy: .zero)
        }
        var taken: [Int] = []
        while let next = queue.popDue(at: instant(50), before: queue.mark) { taken.append(next) }
        let expected = deadlines.indices.sorted { (deadlines[$0], $0) < (deadlines[$1], $1) }
        #expect(taken == expected)
        #expect(queue.count == 0)
    }

    @Test func `keeps timers that are not due`() {
        var queue = TimerQueue<String>()
        _ = queue.add("late", at: instant(10), accuracy: .zero)
        #expect(queue.popDue(at: instant(9), before: queue.mark) == nil)
        #expect(queue.popDue(at: instant(10), before: queue.mark) == "late")
    }

    @Test func `keeps timers that were armed after the mark`() {
        var queue = TimerQueue<String>()
        let mark = queue.mark
        _ = queue.add("new", at: instant(1), accuracy: .zero)
        #expect(queue.popDue(at: instant(5), before: mark) == nil)
        #expect(queue.popDue(at: instant(5), before: queue.mark) == "new")
    }

    @Test func `earliest skips removed timers`() {
        var queue = TimerQueue<String>()
        let first = queue.add("a", at: instant(1), accuracy: .seconds(1))
        _ = queue.add("b", at: instant(2), accuracy: .seconds(2))
        queue.remove(first)
        queue.remove(first)
        #expect(queue.count == 1)
        #expect(queue.earliest()?.deadline == instant(2))
        #expect(queue.earliest()?.accuracy == .seconds(2))
        #expect(queue.popDue(at: instant(5), before: queue.mark) == "b")
        #expect(queue.earliest() == nil)
    }

    @Test func `no timer fires later than its own accuracy allows`() {
        var queue = TimerQueue<String>()
        _ = queue.add("idle", at: instant(1_000_000_000), accuracy: .seconds(5))
        let exact = queue.add("exact", at: instant(1_500_000_000), accuracy: .milliseconds(1))
        #expect(queue.earliest()?.deadline == instant(1_000_000_000))
        #expect(queue.earliest()?.accuracy == .milliseconds(501))
        queue.remove(exact)
        #expect(queue.earliest()?.accuracy == .seconds(5))
        #expect(queue.popDue(at: instant(2_000_000_000), before: queue.mark) == "idle")
        #expect(queue.earliest() == nil)
    }

    @Test func `repeated arming does not grow the queue`() {
        var queue = TimerQueue<Int>()
        let other = queue.add(0, at: instant(7), accuracy: .zero)
        var token = queue.add(1, at: instant(1_000_000), accuracy: .zero)
        for round in 0..<100_000 {
            queue.remove(token)
            token = queue.add(1, at: instant(1_000_000 + UInt64(round)), accuracy: .zero)
        }
        #expect(queue.count == 2)
        #expect(queue.storedEntries <= 70)
        queue.remove(other)
        #expect(queue.earliest()?.deadline == instant(1_099_999))
    }

    @Test func `random removals keep the order`() {
        var random = SystemRandomNumberGenerator()
        var queue = TimerQueue<Int>()
        var expected: [Int: UInt64] = [:]
        var tokens: [TimerQueue<Int>.Token] = []
        for number in 0..<2_000 {
            let deadline = UInt64.random(in: 0..<1_000, using: &random)
            tokens.append(queue.add(number, at: instant(deadline), accuracy: .zero))
            expected[number] = deadline
            if number % 3 == 0 {
                let victim = Int.random(in: 0...number, using: &random)
                queue.remove(tokens[victim])
                expected[victim] = nil
            }
        }
        var taken: [Int] = []
        while let next = queue.popDue(at: instant(1_000), before: queue.mark) { taken.append(next) }
        #expect(taken == expected.keys.sorted { (expected[$0] ?? 0, $0) < (expected[$1] ?? 0, $1) })
    }
}
