import Glibc

/// The wall clock, which the user may set and which NTP may move. What waits uses the loop's clock instead.
package protocol WallClock: Sendable {
    /// Whole seconds since 1970-01-01 UTC.
    var unixSeconds: UInt64 { get }
    /// Seconds since then with their fraction, for dates that apps set; whole ones unless a clock knows better.
    var secondsSince1970: Double { get }
}

extension WallClock {
    /// The whole seconds.
    package var secondsSince1970: Double { Double(unixSeconds) }
}

/// The machine's wall clock (CLOCK_REALTIME).
package struct SystemWallClock: WallClock {
    /// The machine's clock.
    package init() {}

    package var unixSeconds: UInt64 { UInt64(max(time(nil), 0)) }

    package var secondsSince1970: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
