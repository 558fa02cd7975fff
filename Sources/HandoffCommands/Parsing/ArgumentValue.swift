import HandoffJSON
import HandoffModel

/// Parses value formats that several commands share.
enum ArgumentValue {
    /// The maximum value of a timeout option: one day, in seconds.
    static let maxTimeout = 86_400.0

    /// Parses a duration in seconds, with an optional fraction.
    static func seconds(_ text: String, option: String, command: String) throws(UsageError) -> Double {
        let digits = text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E }
        guard digits, let value = Double(text), value > 0, value <= maxTimeout else {
            throw .badValue(
                text, of: option, expected: "a number of seconds above 0 and at most 86400", command: command)
        }
        return value
    }

    /// The maximum duration of a pause: one year, in seconds.
    static let maxPause = 366.0 * 86_400

    /// Parses a duration with units: `30min`, `2h`, `1h30m`, `1d`. A number without a unit is
    /// ambiguous and refused.
    /// - Returns: seconds.
    static func span(_ text: String, command: String) throws(UsageError) -> Double {
        var total = 0.0
        var rest = text.utf8[...]
        while !rest.isEmpty {
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            let unit = rest.dropFirst(digits.count).prefix { !(0x30...0x39).contains($0) }
            guard digits.count <= 9, let count = Double(String(Substring(digits))),
                let size = spanUnits[String(Substring(unit))]
            else { throw notASpan(text, command) }
            total += count * size
            rest = rest.dropFirst(digits.count + unit.count)
        }
        guard total > 0, total <= maxPause else { throw notASpan(text, command) }
        return total
    }

    /// Parses a size: a number with the unit K, M, G or T, which are powers of 1024, as in ByteText.
    /// - Returns: bytes.
    static func size(_ text: String, command: String) throws(UsageError) -> Int64 {
        let units: [Character: Int64] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40]
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit = text.dropFirst(digits.count)
        guard digits.count <= 6, let count = Int64(digits), let size = unit.first.flatMap({ units[$0] }),
            ["", "B", "iB"].contains(unit.dropFirst())
        else {
            throw .badValue(
                text, of: "--limit", expected: "a number with the unit K, M, G or T, such as 200M or 4G",
                command: command)
        }
        return count * size
    }

    private static let spanUnits = ["s": 1.0, "m": 60, "min": 60, "h": 3600, "d": 86_400]

    private static func notASpan(_ text: String, _ command: String) -> UsageError {
        .badValue(
            text, of: "time", expected: "a number with the unit s, min, h or d, such as 30min or 1h30m, at most 366d",
            command: command)
    }

    /// Parses an id prefix: hexadecimal digits in either case, grouped or not.
    /// - Returns: the digits, in lower case and without groups.
    static func identifier(_ text: String, digits: Int, command: String) throws(UsageError) -> String {
        let bare = text.lowercased().filter { !" -:".contains($0) }
        let isHexadecimal = bare.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        guard !bare.isEmpty, bare.utf8.count <= digits, isHexadecimal else {
            throw .badValue(text, of: "id", expected: "an id prefix (hexadecimal digits)", command: command)
        }
        return bare
    }

    /// Parses an activity type.
    static func activityType(_ text: String, command: String) throws(UsageError) -> ActivityType {
        guard let type = ActivityType(text) else {
            throw .badValue(
                text, of: "activity type", expected: "\(ActivityType.rule), such as com.example.editing",
                command: command)
        }
        return type
    }

    /// Rejects an empty text.
    static func text(_ text: String, option: String) throws(UsageError) -> String {
        if text.isEmpty { throw .emptyValue(of: option) }
        return text
    }

    /// Parses a JSON object in the tagged form of userInfo.
    /// - Parameter source: the origin of the text for error messages: `--user-info` or a file name.
    static func userInfo(_ bytes: [UInt8], source: String) throws(UsageError) -> JSONObject {
        let value: JSON
        do {
            value = try JSON(parsing: bytes, limits: JSONLimits(bytes: Limits.payloadMaximum))
        } catch {
            throw .malformed(source, why: "\(describe(error, in: bytes))", command: "publish")
        }
        guard let object = value.object else {
            throw .malformed(source, why: "not a JSON object (must begin with {)", command: "publish")
        }
        do {
            try UserInfo.validate(object)
        } catch {
            throw .malformed(source, why: "\(error)", command: "publish")
        }
        return object
    }

    /// Describes a JSON error with line and column instead of a byte offset.
    private static func describe(_ error: JSONError, in bytes: [UInt8]) -> String {
        guard case .syntax(let message, let position) = error else { return error.description }
        let before = bytes.prefix(max(0, position))
        let line = before.count { $0 == 0x0A } + 1
        let lineStart = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        let column = String(decoding: before[lineStart...], as: UTF8.self).count + 1
        return "\(message) at line \(line), column \(column)"
    }
}

extension ArgumentValue {
    /// Parses the operand of `app enable` and `app disable`: an app id or a prefix of one.
    static func appID(_ operands: [String], command: String) throws(UsageError) -> String {
        let text = operands.first ?? ""
        guard !text.isEmpty, text.utf8.count <= Limits.appName, text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw .badValue(text, of: "app", expected: "an app id such as org.example.Editor", command: command)
        }
        return text
    }

    /// Parses the operand of `peer add` and `peer remove`: `host:port`, `address:port` or
    /// `[address]:port`. The daemon resolves the host.
    /// - Parameter isCalled: false for an address to remove, which an older version may have
    ///   accepted without its interface.
    static func peerAddress(
        _ operands: [String], isCalled: Bool = true, command: String
    ) throws(UsageError) -> String {
        let text = operands.first ?? ""
        guard let address = StaticAddress(text) else {
            throw .badValue(text, of: "address", expected: "in the form HOST:PORT or [ADDRESS]:PORT", command: command)
        }
        if isCalled, address.needsZone { throw .missingZone(address, command: command) }
        return text
    }
}
