import LoopIO
package import Timing

/// A moment by both clocks: the wall's, which people set and which may jump, and the loop's, which only goes on.
package struct SwitchMoment: Sendable, Equatable {
    /// Seconds since 1970.
    package let unixSeconds: UInt64
    /// The loop's clock, which counts sleep and ends with the machine.
    package let instant: MonotonicInstant

    package init(unixSeconds: UInt64, instant: MonotonicInstant) {
        self.unixSeconds = unixSeconds
        self.instant = instant
    }
}
