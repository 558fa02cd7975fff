/// The session bus name of an app with `DBusActivatable=true`: the name of its desktop entry
/// (Desktop Entry Specification, "D-Bus Activation"; D-Bus Specification, "Bus names").
package struct BusName: Sendable, Equatable {
    /// The maximum length, in bytes.
    private static let maxLength = 255

    /// Two or more parts, separated by dots, of ASCII letters, digits, dashes and underscores. No
    /// part starts with a digit.
    package let text: String

    /// - Returns: Nil if the text is not a well-known name.
    package init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.maxLength, parts.count >= 2, parts.allSatisfy(Self.isPart) else { return nil }
        self.text = text
    }

    /// The object path of the app.
    package var path: String {
        var path = "/"
        for character in text.unicodeScalars {
            switch character {
            case ".": path.unicodeScalars.append("/")
            case "-": path.unicodeScalars.append("_")
            default: path.unicodeScalars.append(character)
            }
        }
        return path
    }

    private static func isPart(_ part: Substring.UTF8View.SubSequence) -> Bool {
        guard let first = part.first, !isDigit(first) else { return false }
        return part.allSatisfy { byte in
            AppID.isLetterOrDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
