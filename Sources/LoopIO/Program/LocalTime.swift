import Glibc

/// Formats times for people in the local time zone.
package enum LocalTime {
    /// Returns date and time in the time zone of the process (localtime_r(3)), to the second:
    /// `2026-11-22 14:30:05`. A local time that occurs twice, as at the end of summer time, is
    /// followed by its offset from UTC: `2026-10-25 02:30:05 +02:00`.
    ///
    /// - Parameter unixSeconds: seconds since 1970. A value outside the calendar's range returns
    ///   the number itself.
    package static func text(_ unixSeconds: Double) -> String {
        guard let moment = time_t(exactly: unixSeconds.rounded(.down)), let parts = parts(of: moment) else {
            return "\(unixSeconds)"
        }
        let isShownTwice = shifts.contains { shift in
            let (other, overflow) = moment.addingReportingOverflow(shift)
            return !overflow && self.parts(of: other).map(words) == words(parts)
        }
        return isShownTwice ? "\(words(parts)) \(offset(parts))" : words(parts)
    }

    /// The amounts by which time zones set clocks back, in seconds, in both directions.
    private static let shifts = [-7200, -3600, -1800, 1800, 3600, 7200]

    private static func parts(of moment: time_t) -> tm? {
        var moment = moment
        var parts = tm()
        return localtime_r(&moment, &parts) == nil ? nil : parts
    }

    private static func offset(_ parts: tm) -> String {
        let minutes = abs(parts.tm_gmtoff) / 60
        return (parts.tm_gmtoff < 0 ? "-" : "+") + padded(minutes / 60) + ":" + padded(minutes % 60)
    }

    private static func words(_ parts: tm) -> String {
        let date = [Int(parts.tm_year) &+ 1900, Int(parts.tm_mon) &+ 1, Int(parts.tm_mday)]
        let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(Int.init)
        return date.map(padded).joined(separator: "-") + " " + time.map(padded).joined(separator: ":")
    }

    /// Returns the time of day, to the minute: `14:30`. The date precedes it if it is not the date
    /// of `now`.
    ///
    /// - Parameters:
    ///   - unixSeconds: seconds since 1970.
    ///   - now: the current time, in seconds since 1970.
    package static func short(_ unixSeconds: Double, now: Double) -> String {
        let words = text(unixSeconds).split(separator: " ")
        guard words.count > 1, let date = words.first else { return text(unixSeconds) }
        let minutes = ([words[1].prefix(5)] + words.dropFirst(2)).joined(separator: " ")
        return text(now).hasPrefix("\(date) ") ? minutes : "\(date) \(minutes)"
    }

    /// Pads to two digits.
    private static func padded(_ number: Int) -> String {
        (0...9).contains(number) ? "0\(number)" : "\(number)"
    }
}
