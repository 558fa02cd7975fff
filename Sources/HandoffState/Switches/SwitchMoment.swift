package import HandoffModel
import LoopIO

/// A time by two clocks: the wall clock, which users set and which may jump, and the monotonic
/// clock of the loop.
package struct SwitchMoment: Sendable, Equatable {
    /// Seconds since 1970.
    package let unixSeconds: UInt64
    /// The loop's clock, which includes sleep and restarts with the machine.
    package let instant: MonotonicInstant

    package init(unixSeconds: UInt64, instant: MonotonicInstant) {
        self.unixSeconds = unixSeconds
        self.instant = instant
    }
}
