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

    /// True when one more event may pass at `now`, and counts it.
    package mutating func admit(at now: BootInstant) -> Bool {
        let start = max(expected, now.nanoseconds)
        guard start - now.nanoseconds <= tolerance else { return false }
        expected = start.addingReportingOverflow(interval).partialValue
        return true
    }
}
