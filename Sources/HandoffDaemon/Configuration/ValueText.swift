/// Parses the values of settings. Each function returns nil for invalid or out-of-range text.
enum ValueText {
    /// Parses a decimal number without sign, in `range`.
    static func integer(_ bytes: some Collection<UInt8>, in range: ClosedRange<Int>) -> Int? {
        guard !bytes.isEmpty else { return nil }
        var value = 0
        for byte in bytes {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            let (tenfold, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tenfold.addingReportingOverflow(Int(byte &- UInt8(ascii: "0")))
            guard !overflow, !carry else { return nil }
            value = sum
        }
        return range.contains(value) ? value : nil
    }

    /// Parses `yes` or `no`.
    static func truth(_ text: String) -> Bool? {
        switch text {
        case "yes": true
        case "no": false
        default: nil
        }
    }

    /// Parses a duration with its unit, such as `500 ms`, `15 s`, `10 min` or `1 h`, in `range`.
    static func duration(_ text: String, in range: ClosedRange<Duration>) -> Duration? {
        guard let (count, unit) = countAndUnit(text) else { return nil }
        let milliseconds: Int
        switch unit {
        case "ms": milliseconds = 1
        case "s": milliseconds = 1000
        case "min": milliseconds = 60_000
        case "h": milliseconds = 3_600_000
        default: return nil
        }
        let (total, overflow) = count.multipliedReportingOverflow(by: milliseconds)
        guard !overflow else { return nil }
        let duration = Duration.milliseconds(total)
        return range.contains(duration) ? duration : nil
    }

    /// Parses a number of bytes, such as `65536`, `64 KiB` or `1 MiB`, in `range`.
    static func byteCount(_ text: String, in range: ClosedRange<Int>) -> Int? {
        guard let (count, unit) = countAndUnit(text) else { return nil }
        let size: Int
        switch unit {
        case "", "B": size = 1
        case "K", "KiB": size = 1024
        case "M", "MiB": size = 1024 * 1024
        default: return nil
        }
        let (total, overflow) = count.multipliedReportingOverflow(by: size)
        return !overflow && range.contains(total) ? total : nil
    }

    /// Returns a duration in the form that `duration` parses, in the largest unit that is exact.
    static func text(_ duration: Duration) -> String {
        let milliseconds = duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
        for (unit, size) in [("h", 3_600_000), ("min", 60_000), ("s", 1000)] as [(String, Int64)]
        where milliseconds.isMultiple(of: size) && (milliseconds > 0 || unit == "s") {
            return "\(milliseconds / size) \(unit)"
        }
        return "\(milliseconds) ms"
    }

    /// Returns a number of bytes in the form that `byteCount` parses.
    static func text(byteCount: Int) -> String {
        byteCount.isMultiple(of: 1024) ? "\(byteCount / 1024) KiB" : "\(byteCount)"
    }

    /// Validates a display name: 1 to `limit` bytes, no control characters, no space at either end.
    static func displayName(_ text: String, limit: Int) -> String? {
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            scalar.properties.generalCategory != .control && scalar.properties.generalCategory != .lineSeparator
                && scalar.properties.generalCategory != .paragraphSeparator
        }
        guard isPlain, !text.isEmpty, text.utf8.count <= limit, text.first != " ", text.last != " " else { return nil }
        return text
    }

    /// Validates the name of a network interface: 1 to 15 bytes (IFNAMSIZ less one), as the kernel
    /// accepts them.
    static func interfaceName(_ text: String) -> String? {
        let isName = text.utf8.allSatisfy { byte in
            (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "/") && byte != UInt8(ascii: ":")
        }
        return isName && (1...15).contains(text.utf8.count) && text != "." && text != ".." ? text : nil
    }

    /// Splits `12 min` or `12min` into number and unit. The unit may be empty.
    private static func countAndUnit(_ text: String) -> (count: Int, unit: String)? {
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard let count = integer(digits, in: 0...Int.max) else { return nil }
        let rest = text.utf8.dropFirst(digits.count).drop { $0 == UInt8(ascii: " ") }
        return (count, String(Substring(rest)))
    }
}
