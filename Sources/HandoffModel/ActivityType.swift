/// What kind of activity it is, such as `com.example.editing`.
package struct ActivityType: Hashable, Sendable, TextValue {
    /// What a text must be to be a type, as messages say it.
    package static let rule = "1 to 255 visible ASCII characters"

    /// The longest type, in bytes: an advert carries it behind a length byte.
    package static let maxByteCount = 255

    /// A file, a folder or standard input that `handoffctl publish` offers; the content moves by a continuation stream.
    package static let content = ActivityType(checked: "dev.handoff1.content")

    /// The type that crosses teams: whatever page a browser shows (`NSUserActivityTypeBrowsingWeb`).
    package static let browsingWeb = ActivityType(checked: "NSUserActivityTypeBrowsingWeb")

    /// The type as it was given.
    package let text: String

    /// Nil unless it is 1 to 255 bytes of 0x21 to 0x7E: no blanks, and nothing that looks like something else.
    package init?(_ text: String) {
        let isVisible = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard isVisible, (1...Self.maxByteCount).contains(text.utf8.count) else { return nil }
        self.init(checked: text)
    }

    private init(checked text: String) {
        self.text = text
    }

    package var description: String {
        text
    }
}
