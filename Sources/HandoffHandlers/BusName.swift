/// The name under which an app with `DBusActivatable=true` is on the session bus: that of its desktop entry (Desktop Entry
/// Specification, "D-Bus Activation"; D-Bus Specification, "Bus names").
package struct BusName: Sendable, Equatable {
    /// In bytes.
    private static let longest = 255

    /// Two parts or more with a dot between them: ASCII letters, digits, dashes and underscores, no digit at the beginning.
    package let text: String

    /// - Returns: nil for what is no well-known name.
    package init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.longest, parts.count >= 2, parts.allSatisfy(Self.isPart) else { return nil }
        self.text = text
    }

    /// The object of the app.
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
