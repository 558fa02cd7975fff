import Glibc

/// The wall clock, which the user may set and which NTP may move. What waits uses the loop's clock instead.
package protocol WallClock: Sendable {
    /// Whole seconds since 1970-01-01 UTC.
    var unixSeconds: UInt64 { get }
}

/// The machine's wall clock (CLOCK_REALTIME).
package struct SystemWallClock: WallClock {
    /// The machine's clock.
    package init() {}

    package var unixSeconds: UInt64 { UInt64(max(time(nil), 0)) }
}
