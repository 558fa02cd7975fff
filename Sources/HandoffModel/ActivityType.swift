/// The type of an activity, such as `com.example.editing`.
package struct ActivityType: Hashable, Sendable, TextValue {
    /// The format of a type, for error messages.
    package static let rule = "1 to 255 visible ASCII characters"

    /// The maximum length of a type, in bytes. An advert stores the length in one byte.
    static let maxByteCount = 255

    /// A file, a folder or standard input that `handoffctl publish` offers. A continuation stream
    /// transfers the content.
    package static let content = ActivityType(checked: "dev.handoff1.content")

    /// The copy of an activity that was sent to one device, sealed for it.
    package static let sealed = ActivityType(checked: "dev.handoff1.sealed")

    /// The clipboard of a device. The team of the activity lists its formats.
    package static let clipboard = ActivityType(checked: "dev.handoff1.clipboard")

    /// A text that a user sends to a device. The payload contains it.
    package static let text = ActivityType(checked: "dev.handoff1.text")

    /// The page that a browser shows (`NSUserActivityTypeBrowsingWeb`). This type crosses teams.
    package static let browsingWeb = ActivityType(checked: "NSUserActivityTypeBrowsingWeb")

    package let text: String

    /// Returns nil unless the text is 1 to 255 bytes of 0x21 to 0x7E, which excludes blanks and
    /// look-alike characters.
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
