package import HandoffJSON
import HandoffModel

/// Formats objects for `--json`: one per line, each with a version.
package enum JSONLine {
    /// The version of all objects printed with `--json`. It increases when a field is removed or
    /// changes its meaning.
    static let version: Int64 = 1

    /// Returns the object on one line, without a line terminator, with `version` as its first
    /// member.
    ///
    /// Characters that control a terminal or the direction of text are escaped. The value stays
    /// exact, and a line with text from a peer cannot disguise itself.
    package static func text(_ object: JSONObject) -> String {
        var versioned: JSONObject = ["version": .integer(version)]
        for member in object where member.key != "version" { versioned[member.key] = member.value }
        return escaped(String(decoding: JSON.object(versioned).encoded(), as: UTF8.self))
    }

    /// Replaces invisible characters inside strings by `\u` escapes. JSON does not allow them
    /// outside of strings, so the text need not be parsed.
    static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isInvisible) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            guard isInvisible(scalar) else {
                result.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                let padding = String(repeating: "0", count: max(0, 4 - digits.count))
                result.append(contentsOf: "\\u\(padding)\(digits)".unicodeScalars)
            }
        }
        return String(result)
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        // Escape joiners as well; programs decode the escape.
        VisibleText.isHidden(scalar) || VisibleText.isJoiner(scalar)
    }
}

/// Formats JSON for people: one member per line, two spaces per level, and no characters that a
/// terminal interprets.
package enum PrettyJSON {
    /// Returns the value on as many lines as needed, without a final line terminator.
    /// - Parameter indentation: the number of spaces before every line but the first.
    package static func text(_ value: JSON, indentation: Int = 0) -> String {
        switch value {
        case .object(let object):
            lines("{", "}", indentation, object.map { "\(scalar(.string($0.key))): \(inner($0.value, indentation))" })
        case .array(let elements):
            lines("[", "]", indentation, elements.map { inner($0, indentation) })
        case .null, .bool, .integer, .real, .string:
            scalar(value)
        }
    }

    private static func inner(_ value: JSON, _ indentation: Int) -> String {
        text(value, indentation: indentation + 2)
    }

    private static func scalar(_ value: JSON) -> String {
        VisibleText.escape(String(decoding: value.encoded(), as: UTF8.self))
    }

    private static func lines(_ open: String, _ close: String, _ indentation: Int, _ parts: [String]) -> String {
        if parts.isEmpty { return open + close }
        let margin = String(repeating: " ", count: indentation)
        return "\(open)\n\(margin)  " + parts.joined(separator: ",\n\(margin)  ") + "\n\(margin)\(close)"
    }
}
