/// Formats sizes and rates.
package enum ByteText {
    private static let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

    /// Formats `512 bytes`, `1.5 KiB`, `12.0 MiB`, with powers of 1024 (IEC 80000-13) and one
    /// decimal digit.
    package static func text(_ bytes: Int64) -> String {
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
    package static func rate(_ bytesPerSecond: Int64) -> String { "\(text(bytesPerSecond))/s" }
}
