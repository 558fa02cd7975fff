import HandoffJSON
package import HandoffModel

/// The id of an app in AppStream, such as `org.gnome.TextEditor`. It can be a word of a command line
/// and a part of an address.
package struct ComponentID: Hashable, Sendable, TextValue {
    /// The minimum number of parts that an id derived from a type has, and the maximum number of ids.
    private static let minParts = 3
    package static let maxCandidates = 3

    /// The id as given.
    package let text: String

    /// Nil unless the text is 1 to 255 ASCII letters, digits, `.`, `_` and `-`, and starts with a
    /// letter or digit.
    package init?(_ text: String) {
        let bytes = text.utf8
        guard (1...HandlerLimits.identifier).contains(bytes.count), let first = bytes.first,
            AppID.isLetterOrDigit(first),
            bytes.allSatisfy({ AppID.isLetterOrDigit($0) || Self.marks.contains($0) })
        else { return nil }
        self.text = text
    }

    package var description: String { text }

    private static let marks = Set("._-".utf8)

    /// Returns the ids of the apps that an activity type may belong to, likeliest first. By convention
    /// a type is the id of its app and further parts. Only the software catalog knows which of the
    /// ids exist.
    package static func candidates(for type: ActivityType) -> [ComponentID] {
        let parts = type.text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count > minParts, !parts.contains("") else { return [] }
        return (minParts..<parts.count).reversed().prefix(maxCandidates).compactMap {
            ComponentID(parts.prefix($0).joined(separator: "."))
        }
    }
}
