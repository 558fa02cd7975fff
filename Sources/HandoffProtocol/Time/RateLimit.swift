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

    /// Lets one event pass in every interval on average, and `burst` at once. At most a day, and 1,000 of them.
    package init(every interval: Duration, burst: UInt64) {
        precondition(interval > .zero && interval <= .seconds(86_400) && burst <= 1_000, "no rate")
        self.interval = UInt64(interval / .nanoseconds(1))
        tolerance = self.interval * (max(burst, 1) - 1)
    }

    /// Events that may wait at a time; whoever sends more only waits no longer, so that a flood is over soon after its end.
    private static let mostWaiting: UInt64 = 16

    /// How long one more event has to wait, zero when it may pass at `now`; counts it either way.
    package mutating func delay(at now: BootInstant) -> Duration {
        let latest = now.nanoseconds.addingReportingOverflow(tolerance + Self.mostWaiting * interval).partialValue
        let start = min(max(expected, now.nanoseconds), latest)
        expected = start.addingReportingOverflow(interval).partialValue
        let ahead = start - now.nanoseconds
        return ahead <= tolerance ? .zero : .nanoseconds(Int64(clamping: ahead - tolerance))
    }

    /// True when one more event may pass at `now`, and counts it.
    package mutating func admit(at now: BootInstant) -> Bool {
        let start = max(expected, now.nanoseconds)
        guard start - now.nanoseconds <= tolerance else { return false }
        expected = start.addingReportingOverflow(interval).partialValue
        return true
    }
}
