/// An instant on the clock that starts with the machine and includes sleep (CLOCK_BOOTTIME).
///
/// State machines receive it with every event and never read a clock. Arithmetic saturates, so that
/// a distant deadline stays distant.
package struct MonotonicInstant: InstantProtocol, Sendable {
    /// The nanoseconds since the machine started.
    package let nanoseconds: UInt64

    package init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    package static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// Returns the instant that is `duration` later (or earlier). Saturates at the limits of the
    /// clock's range.
    package func advanced(by duration: Duration) -> MonotonicInstant {
        let step = duration.wholeNanoseconds
        let (sum, overflow) =
            step >= 0
            ? nanoseconds.addingReportingOverflow(UInt64(step))
            : nanoseconds.subtractingReportingOverflow(step.magnitude)
        return MonotonicInstant(nanoseconds: overflow ? (step >= 0 ? .max : 0) : sum)
    }

    /// Returns the duration from this instant to `other`; negative if `other` is earlier.
    package func duration(to other: MonotonicInstant) -> Duration {
        other.nanoseconds >= nanoseconds
            ? .nanoseconds(Int64(clamping: other.nanoseconds - nanoseconds))
            : .nanoseconds(0 - Int64(clamping: nanoseconds - other.nanoseconds))
    }

    package static func + (left: MonotonicInstant, right: Duration) -> MonotonicInstant {
        left.advanced(by: right)
    }

    package static func - (left: MonotonicInstant, right: Duration) -> MonotonicInstant {
        let step = right.wholeNanoseconds
        return left.advanced(by: .nanoseconds(step == .min ? .max : -step))
    }

    /// Returns the duration from `earlier` to this instant; zero if `earlier` is later.
    package func duration(since earlier: MonotonicInstant) -> Duration {
        max(.zero, earlier.duration(to: self))
    }

    package static func - (left: MonotonicInstant, right: MonotonicInstant) -> Duration {
        right.duration(to: left)
    }
}

extension Duration {
    /// The duration in nanoseconds, clamped to the range of 64 bits (292 years).
    package var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds > 0 ? .max : .min }
        let (sum, more) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return more ? (seconds > 0 ? .max : .min) : sum
    }
}
