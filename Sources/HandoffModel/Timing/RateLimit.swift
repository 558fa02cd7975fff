/// A rate limiter with an average rate and a burst size (the generic cell rate algorithm, which
/// needs one number of state).
package struct RateLimit: Sendable, Equatable {
    /// The nanoseconds between events at the full rate.
    private let interval: UInt64

    /// The time by which a burst may run ahead of the full rate, in nanoseconds.
    private let tolerance: UInt64

    /// The time of the next event if all events so far had arrived at the full rate.
    private var expected: UInt64 = 0

    /// Admits `perSecond` events per second on average, and bursts of `burst` events (`perSecond`
    /// if nil).
    package init(perSecond: UInt64, burst: UInt64? = nil) {
        precondition(perSecond > 0, "a rate of nothing")
        interval = 1_000_000_000 / perSecond
        tolerance = interval * (max(burst ?? perSecond, 1) - 1)
    }

    /// Admits one event per interval on average, and bursts of `burst` events. `interval` is at
    /// most a day, `burst` at most 10,000.
    package init(every interval: Duration, burst: UInt64) {
        precondition(interval > .zero && interval <= .seconds(86_400) && burst <= 10_000, "no rate")
        self.interval = UInt64(interval / .nanoseconds(1))
        tolerance = self.interval * (max(burst, 1) - 1)
    }

    /// The maximum number of events that may be delayed at a time. Further events do not increase
    /// the delay, so that its effect ends soon after the flood.
    private static let maxWaiting: UInt64 = 16

    /// Counts one more event, and returns its delay; zero if it may pass at `now`.
    package mutating func delay(at now: MonotonicInstant) -> Duration {
        let latest = now.nanoseconds.addingReportingOverflow(tolerance + Self.maxWaiting * interval).partialValue
        let start = min(max(expected, now.nanoseconds), latest)
        expected = start.addingReportingOverflow(interval).partialValue
        let ahead = start - now.nanoseconds
        return ahead <= tolerance ? .zero : .nanoseconds(Int64(clamping: ahead - tolerance))
    }

    /// The time at which one more event may pass.
    package var next: MonotonicInstant { MonotonicInstant(nanoseconds: expected) - .nanoseconds(Int64(tolerance)) }

    /// Returns true if a whole burst may pass at `now`, as without earlier events.
    package func isIdle(at now: MonotonicInstant) -> Bool { expected <= now.nanoseconds }

    /// Returns true if an event of this weight may pass at `now`, and counts it then.
    package mutating func admit(weight: Double = 1, at now: MonotonicInstant) -> Bool {
        // Longer than any burst. The condition also rejects a weight that is not a number.
        let share = Double(interval) * weight
        guard share >= 0, share < 1e15 else { return false }
        let cost = UInt64(share)
        let start = max(expected, now.nanoseconds)
        let (ahead, overflow) = (start - now.nanoseconds).addingReportingOverflow(cost)
        guard !overflow, ahead <= tolerance + interval else { return false }
        expected = start.addingReportingOverflow(cost).partialValue
        return true
    }

    /// Counts an event that has passed.
    package mutating func count(at now: MonotonicInstant) {
        expected = max(expected, now.nanoseconds).addingReportingOverflow(interval).partialValue
    }
}
