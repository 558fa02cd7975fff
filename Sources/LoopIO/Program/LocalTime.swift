import Glibc

/// Moments as a person here reads them.
package enum LocalTime {
    /// Date and time in the time zone of the process (localtime_r(3)), to the second: `2026-11-22 14:30:05`.
    ///
    /// - Parameter unixSeconds: seconds since 1970; a number that no calendar has gives the number itself.
    package static func text(_ unixSeconds: Double) -> String {
        guard let seconds = time_t(exactly: unixSeconds.rounded(.down)) else { return "\(unixSeconds)" }
        var moment = seconds
        var parts = tm()
        guard localtime_r(&moment, &parts) != nil else { return "\(unixSeconds)" }
        let date = [Int(parts.tm_year) &+ 1900, Int(parts.tm_mon) &+ 1, Int(parts.tm_mday)]
        let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(Int.init)
        return date.map(padded).joined(separator: "-") + " " + time.map(padded).joined(separator: ":")
    }

    /// The time of day, to the minute, and before it the date where that is another one than now: `14:30`.
    ///
    /// - Parameters:
    ///   - unixSeconds: seconds since 1970.
    ///   - now: the present moment, in seconds since 1970.
    package static func short(_ unixSeconds: Double, now: Double) -> String {
        let words = text(unixSeconds).split(separator: " ")
        guard words.count == 2, let date = words.first, let time = words.last else { return text(unixSeconds) }
        let minutes = time.prefix(5)
        return text(now).hasPrefix("\(date) ") ? String(minutes) : "\(date) \(minutes)"
    }

    /// At least two digits.
    private static func padded(_ number: Int) -> String {
        (0...9).contains(number) ? "0\(number)" : "\(number)"
    }
}
