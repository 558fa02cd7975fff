import HandoffJSON
import HandoffModel

/// Reads values of the forms that several commands take.
enum ArgumentValue {
    /// The longest time that an option may name: a day, in seconds.
    static let maxTimeout = 86_400.0

    /// A span of time: seconds, with or without a fraction.
    static func seconds(_ text: String, option: String, command: String) throws(UsageError) -> Double {
        let digits = text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E }
        guard digits, let value = Double(text), value > 0, value <= maxTimeout else {
            throw .badValue(text, of: option, expected: "a number of seconds above 0, at most a day", command: command)
        }
        return value
    }

    /// The longest time for which something can be switched off: a year, in seconds.
    static let maxPause = 366.0 * 86_400

    /// A span of time as people write it: `30min`, `2h`, `1h30m`, `1d`. A bare number is no span: nobody knows of what.
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

    private static let spanUnits = ["s": 1.0, "m": 60, "min": 60, "h": 3600, "d": 86_400]

    private static func notASpan(_ text: String, _ command: String) -> UsageError {
        .badValue(
            text, of: "time", expected: "a number with the unit s, min, h or d, such as 30min or 1h30m, at most 366d",
            command: command)
    }

    /// The beginning of an id: hexadecimal digits in any case, in groups or not.
    /// - Returns: the digits, in lower case and without groups.
    static func identifier(_ text: String, digits: Int, command: String) throws(UsageError) -> String {
        let bare = text.lowercased().filter { !" -:".contains($0) }
        let isHexadecimal = bare.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        guard !bare.isEmpty, bare.utf8.count <= digits, isHexadecimal else {
            throw .badValue(text, of: "id", expected: "the beginning of an id: hexadecimal digits", command: command)
        }
        return bare
    }

    /// An activity type.
    static func activityType(_ text: String, command: String) throws(UsageError) -> ActivityType {
        guard let type = ActivityType(text) else {
            throw .badValue(
                text, of: "activity type", expected: "\(ActivityType.rule), such as com.example.editing",
                command: command)
        }
        return type
    }

    /// A text that must not be empty.
    static func text(_ text: String, option: String) throws(UsageError) -> String {
        if text.isEmpty { throw .emptyValue(of: option) }
        return text
    }

    /// A JSON object in the tagged form of userInfo.
    /// - Parameter source: where the text is from, for the message: `--user-info` or a file's name.
    static func userInfo(_ bytes: [UInt8], source: String) throws(UsageError) -> JSONObject {
        let value: JSON
        do {
            value = try JSON(parsing: bytes, limits: JSONLimits(bytes: Limits.payloadMaximum))
        } catch {
            throw .malformed(source, why: "\(describe(error, in: bytes))", command: "publish")
        }
        guard let object = value.object else {
            throw .malformed(source, why: "not a JSON object: it should begin with {", command: "publish")
        }
        do {
            try UserInfo.validate(object)
        } catch {
            throw .malformed(source, why: "\(error)", command: "publish")
        }
        return object
    }

    /// Words for a JSON error, with line and column instead of a byte offset.
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
    /// The one app of `app enable` and `app disable`: its id, or the beginning of it.
    static func appID(_ operands: [String], command: String) throws(UsageError) -> String {
        let text = operands.first ?? ""
        guard !text.isEmpty, text.utf8.count <= Limits.appName, text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw .badValue(text, of: "app", expected: "an app's id, such as org.example.Editor", command: command)
        }
        return text
    }

    /// The one address of `peer add` and `peer remove`: `host:port`, `address:port` or `[address]:port`. Whether the
    /// host exists is for the daemon to find out.
    /// - Parameter isCalled: false for an address to remove, which a former version may have accepted without its interface.
    static func peerAddress(
        _ operands: [String], isCalled: Bool = true, command: String
    ) throws(UsageError) -> String {
        let text = operands.first ?? ""
        guard let address = StaticAddress(text) else {
            throw .badValue(text, of: "address", expected: "of the form HOST:PORT or [ADDRESS]:PORT", command: command)
        }
        if isCalled, address.needsZone { throw .missingZone(address, command: command) }
        return text
    }
}
