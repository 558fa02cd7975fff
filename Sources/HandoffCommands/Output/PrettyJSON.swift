package import HandoffJSON
import HandoffModel

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
