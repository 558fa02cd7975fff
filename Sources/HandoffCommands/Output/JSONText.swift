package import HandoffJSON
import HandoffModel

/// Objects as `--json` prints them: one line each, with a version.
package enum JSONLine {
    /// The version of all objects that `--json` prints; it grows when a field is taken away or changes its meaning.
    package static let version: Int64 = 1

    /// The object on one line, without line end, with `version` as its first member.
    ///
    /// Characters that control a terminal or the direction of text are written as escapes: the value stays exact, and
    /// a line that a peer's text is part of cannot pretend to be something else.
    package static func text(_ object: JSONObject) -> String {
        var versioned: JSONObject = ["version": .integer(version)]
        for member in object where member.key != "version" { versioned[member.key] = member.value }
        return escaped(String(decoding: JSON.object(versioned).encoded(), as: UTF8.self))
    }

    /// Replaces characters that JSON allows inside strings, but that no one sees, by `\u` escapes. They cannot stand
    /// outside of strings, so that the text need not be parsed.
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
        // Joiners, too: an escape costs a program nothing.
        VisibleText.isHidden(scalar) || VisibleText.isJoiner(scalar)
    }
}

/// JSON for people: one member a line, two spaces a level, and nothing in it that a terminal would obey.
package enum PrettyJSON {
    /// The value on as many lines as it takes, without a line end.
    /// - Parameter indentation: spaces before every line but the first.
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
