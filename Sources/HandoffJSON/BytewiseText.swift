/// A text that is equal to another only when their UTF-8 bytes are: the key type for dictionaries of such texts.
package struct BytewiseText: Hashable, Sendable {
    /// The text itself.
    package let text: String

    /// Wraps a text.
    package init(_ text: String) {
        self.text = text
    }

    package static func == (left: BytewiseText, right: BytewiseText) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    package func hash(into hasher: inout Hasher) {
        text.hashBytes(into: &hasher)
    }
}
