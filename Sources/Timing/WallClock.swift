import Glibc

/// The wall clock, which the user may set and NTP may adjust. Use the loop's clock for timers.
package protocol WallClock: Sendable {
    /// The whole seconds since 1970-01-01 UTC.
    var unixSeconds: UInt64 { get }
    /// The seconds since 1970-01-01 UTC with their fraction, for dates that apps set. Whole seconds
    /// unless a clock provides more.
    var secondsSince1970: Double { get }
    /// The whole seconds, negative before 1970: a clock without a battery may be set to any time.
    var signedUnixSeconds: Int64 { get }
}

extension WallClock {
    package var secondsSince1970: Double { Double(unixSeconds) }

    package var signedUnixSeconds: Int64 { Int64(clamping: unixSeconds) }
}

/// The machine's wall clock (CLOCK_REALTIME).
package struct SystemWallClock: WallClock {
    package init() {}

    package var unixSeconds: UInt64 { UInt64(max(time(nil), 0)) }

    package var secondsSince1970: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    package var signedUnixSeconds: Int64 { Int64(time(nil)) }
}
