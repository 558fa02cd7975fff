import HandoffModel
import Testing

/// Rate limits and delays.
struct RateAndPauseTests {
    private func at(_ milliseconds: UInt64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: (1_000_000 + milliseconds) * 1_000_000)
    }

    private struct FixedRandom: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state
        }
    }

    @Test func `a rate limit admits a burst and then its rate`() {
        var limit = RateLimit(perSecond: 10)
        let burst = (0..<20).filter { _ in limit.admit(at: at(0)) }
        #expect(burst.count == 10)
        let single = [99, 100, 100].map { limit.admit(at: at($0)) }
        #expect(single == [false, true, false])
        let later = (0..<20).filter { _ in limit.admit(at: at(5000)) }
        #expect(later.count == 10)
    }

    @Test func `a heavy event counts as several`() {
        var limit = RateLimit(perSecond: 10, burst: 10)
        let verdicts = [10.5, 7.5, 3, 2.5].map { limit.admit(weight: $0, at: at(0)) }
        #expect(verdicts == [false, true, false, true])
        let later = [99, 100].map { limit.admit(at: at($0)) }
        #expect(later == [false, true])
        let none = [Double.infinity, .nan, -1].map { limit.admit(weight: $0, at: at(100_000)) }
        #expect(none == [false, false, false])
    }

    @Test func `events that passed elsewhere are counted`() {
        var limit = RateLimit(every: .seconds(2), burst: 2)
        #expect(limit.isIdle(at: at(0)) && limit.next <= at(0))
        limit.count(at: at(0))
        #expect(limit.next <= at(0))
        limit.count(at: at(0))
        #expect(limit.next == at(2000) && !limit.isIdle(at: at(3999)) && limit.isIdle(at: at(4000)))
    }

    @Test func `delays double up to the maximum and vary`() {
        var backoff = Backoff(first: .seconds(1), maxDelay: .seconds(60), variation: 20)
        var random = FixedRandom(state: 1)
        let base: [Int64] = [1, 2, 4, 8, 16, 32, 60, 60]
        for seconds in base {
            let delay = backoff.next(using: &random)
            #expect(delay >= .milliseconds(seconds * 800) && delay <= .milliseconds(seconds * 1200))
        }
        backoff.reset()
        let first = backoff.next(using: &random)
        #expect(first <= .milliseconds(1200))
    }

    @Test func `a short success counts as a failure`() {
        var backoff = Backoff(first: .seconds(1), maxDelay: .seconds(4))
        #expect(backoff.next() == .seconds(1))
        backoff.ended(after: .seconds(3))
        #expect(backoff.next() == .seconds(2))
        backoff.ended(after: .seconds(4))
        #expect(backoff.next() == .seconds(1))
    }

    @Test func `counting attempts gives the same delays`() {
        let backoff = Backoff(first: .seconds(1), maxDelay: .seconds(60))
        let delays = [0, 1, 2, 3, 6, 7, 8, Int.max].map { backoff.delay(after: $0) }
        #expect(delays == [1, 1, 2, 4, 32, 60, 60, 60].map { .seconds($0) })
    }
}

struct MonotonicInstantTests {
    @Test(arguments: [
        (UInt64(5), Duration.nanoseconds(3), UInt64(8)), (5, .nanoseconds(-3), 2), (5, .nanoseconds(-6), 0),
        (.max - 1, .seconds(1), .max), (0, .seconds(Int64.max), UInt64(Int64.max)), (7, .seconds(Int64.min), 0),
        (0, .milliseconds(1), 1_000_000),
    ])
    func `moves within its range`(_ start: UInt64, _ step: Duration, _ result: UInt64) {
        #expect((MonotonicInstant(nanoseconds: start) + step).nanoseconds == result)
    }

    @Test func `the difference may be negative`() {
        let early = MonotonicInstant(nanoseconds: 10)
        let late = MonotonicInstant(nanoseconds: 35)
        #expect(late - early == .nanoseconds(25))
        #expect(early - late == .nanoseconds(-25))
        #expect(early.duration(to: late) == .nanoseconds(25))
        #expect(early < late)
        #expect(MonotonicInstant(nanoseconds: 0) - MonotonicInstant(nanoseconds: .max) < .zero)
    }

    @Test func `arithmetic saturates`() {
        let start = MonotonicInstant(nanoseconds: 10)
        #expect(start + .nanoseconds(5) == MonotonicInstant(nanoseconds: 15))
        #expect(start - .seconds(1) == MonotonicInstant(nanoseconds: 0))
        #expect(start.duration(since: MonotonicInstant(nanoseconds: 4)) == .nanoseconds(6))
        #expect(MonotonicInstant(nanoseconds: 4).duration(since: start) == .zero)
    }
}
