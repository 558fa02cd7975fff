/// What a continuation stream is for, when it is not the apps' own: a name that the app which opens it and the app which
/// takes it agree on, such as `document/3`. Means nothing to the daemons.
package struct StreamResource: Hashable, Sendable, CustomStringConvertible {
    /// The longest name, in bytes.
    package static let maximumByteCount = 128

    /// The name.
    package let text: String

    /// Nil unless it is 1 to 128 characters of ASCII that can be seen, without a space.
    package init?(_ text: String) {
        guard (1...Self.maximumByteCount).contains(text.utf8.count) else { return nil }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        self.text = text
    }

    package var description: String { text }
}
