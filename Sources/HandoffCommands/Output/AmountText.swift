/// Formats sizes and rates.
enum ByteText {
    private static let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

    /// Formats `512 bytes`, `1.5 KiB`, `12.0 MiB`, with powers of 1024 (IEC 80000-13) and one
    /// decimal digit.
    static func text(_ bytes: Int64) -> String {
        guard bytes >= 1024 else { return bytes == 1 ? "1 byte" : "\(max(0, bytes)) bytes" }
        var unit = 0
        var size = bytes
        // Keep one unit for the last step, so that the decimal digit is accurate enough.
        while size >= 1024 * 1024, unit < units.count - 1 {
            size /= 1024
            unit += 1
        }
        var tenths = (size * 10 + 512) / 1024
        if tenths >= 10_240, unit < units.count - 1 {
            tenths = (tenths + 512) / 1024
            unit += 1
        }
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    /// Formats `12.0 MiB/s`.
    static func rate(_ bytesPerSecond: Int64) -> String { "\(text(bytesPerSecond))/s" }
}

/// Formats how long ago something happened.
package enum RelativeAge {
    /// Formats `just now`, `2 min`, `3 h`, `4 days`.
    /// - Parameter seconds: the age; a negative value or NaN counts as now.
    package static func text(seconds: Double) -> String {
        guard seconds >= 60 else { return "just now" }
        // A received number may exceed every integer type.
        let whole = Int(min(seconds, 1e9))
        switch whole {
        case ..<3600: return "\(whole / 60) min"
        case ..<172_800: return "\(whole / 3600) h"
        default: return "\(whole / 86_400) days"
        }
    }
}
