/// Lets so many events a second pass, and so many at once (the generic cell rate algorithm: one number of state).
package struct RateLimit: Sendable, Equatable {
    /// Nanoseconds between events at the full rate.
    private let interval: UInt64

    /// How far ahead of the full rate a burst may run, in nanoseconds.
    private let tolerance: UInt64

    /// When the next event would come if all so far had come at the full rate.
    private var expected: UInt64 = 0

    /// Lets `perSecond` events pass in every second on average; as many, or `burst`, at once.
    package init(perSecond: UInt64, burst: UInt64? = nil) {
        precondition(perSecond > 0, "a rate of nothing")
        interval = 1_000_000_000 / perSecond
        tolerance = interval * (max(burst ?? perSecond, 1) - 1)
    }

    /// Lets one event pass in every interval on average, and `burst` at once. At most a day, and 10,000 of them.
    package init(every interval: Duration, burst: UInt64) {
        precondition(interval > .zero && interval <= .seconds(86_400) && burst <= 10_000, "no rate")
        self.interval = UInt64(interval / .nanoseconds(1))
        tolerance = self.interval * (max(burst, 1) - 1)
    }

    /// Events that may wait at a time; whoever sends more only waits no longer, so that a flood is over soon after its end.
    private static let maxWaiting: UInt64 = 16

    /// How long one more event has to wait, zero when it may pass at `now`; counts it either way.
    package mutating func delay(at now: MonotonicInstant) -> Duration {
        let latest = now.nanoseconds.addingReportingOverflow(tolerance + Self.maxWaiting * interval).partialValue
        let start = min(max(expected, now.nanoseconds), latest)
        expected = start.addingReportingOverflow(interval).partialValue
        let ahead = start - now.nanoseconds
        return ahead <= tolerance ? .zero : .nanoseconds(Int64(clamping: ahead - tolerance))
    }

    /// When one more event may pass.
    package var next: MonotonicInstant { MonotonicInstant(nanoseconds: expected) - .nanoseconds(Int64(tolerance)) }

    /// Whether a whole burst may pass at `now`, as if nothing had happened before.
    package func isRested(at now: MonotonicInstant) -> Bool { expected <= now.nanoseconds }

    /// Whether an event that counts as `weight` of them may pass at `now`; counts it if so.
    package mutating func admit(weight: Double = 1, at now: MonotonicInstant) -> Bool {
        // No burst is ever that long. Also refuses a weight that is no number.
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
