/// A moment on a clock that starts with the machine and counts suspend (`CLOCK_BOOTTIME`).
///
/// Machines are given the moment with every event and never read a clock; arithmetic saturates, so that a far
/// deadline stays far.
package struct BootInstant: Comparable, Hashable, Sendable {
    /// Nanoseconds since the machine was started.
    package let nanoseconds: UInt64

    /// The moment `nanoseconds` after the start of the machine.
    package init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// True when the left moment comes before the right one.
    package static func < (left: BootInstant, right: BootInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The moment `duration` later; the last representable one when that is beyond it.
    package static func + (instant: BootInstant, duration: Duration) -> BootInstant {
        let offset = Self.nanoseconds(in: duration)
        let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(offset)
        return BootInstant(nanoseconds: overflow ? .max : sum)
    }

    /// The moment `duration` earlier; the start of the machine when that is before it.
    package static func - (instant: BootInstant, duration: Duration) -> BootInstant {
        let offset = Self.nanoseconds(in: duration)
        let (difference, overflow) = instant.nanoseconds.subtractingReportingOverflow(offset)
        return BootInstant(nanoseconds: overflow ? 0 : difference)
    }

    /// Time from `earlier` until this moment; zero when `earlier` is the later one.
    package func duration(since earlier: BootInstant) -> Duration {
        let (difference, overflow) = nanoseconds.subtractingReportingOverflow(earlier.nanoseconds)
        return overflow ? .zero : .nanoseconds(Int64(clamping: difference))
    }

    /// A duration in whole nanoseconds; negative ones count as zero, as no deadline lies in the past.
    private static func nanoseconds(in duration: Duration) -> UInt64 {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = whole.addingReportingOverflow(UInt64(attoseconds) / 1_000_000_000)
        return overflow || carry ? .max : sum
    }
}
