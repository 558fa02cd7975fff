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
