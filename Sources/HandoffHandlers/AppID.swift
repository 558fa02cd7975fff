import HandoffJSON
import HandoffModel

/// The id of an app: the name of its desktop entry without the suffix, such as
/// `org.example.Editor`. Compared by bytes.
package struct AppID: Hashable, Sendable, TextValue {
    /// The id as given.
    package let text: String

    /// Nil unless the text is 1 to 255 bytes of visible ASCII without `refusedCharacters`, and
    /// starts with a letter, a digit or `_`. Ids become parts of paths, unit names and command
    /// lines.
    package init?(_ text: String) {
        let bytes = text.utf8
        guard (1...HandlerLimits.identifier).contains(bytes.count), let first = bytes.first,
            Self.isLetterOrDigit(first) || first == UInt8(ascii: "_")
        else { return nil }
        guard bytes.allSatisfy({ (0x21...0x7E).contains($0) && !Self.refused.contains($0) }) else { return nil }
        self.text = text
    }

    package var description: String { text }

    package static func == (left: AppID, right: AppID) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    package func hash(into hasher: inout Hasher) {
        text.hashBytes(into: &hasher)
    }

    /// The visible ASCII characters that ids must not contain.
    package static let refusedCharacters = "/\\\"'`$%=;"
    private static let refused = Set(refusedCharacters.utf8)

    static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

extension AppID: Comparable {
    /// By bytes, so that the order does not depend on the language.
    package static func < (left: AppID, right: AppID) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}
