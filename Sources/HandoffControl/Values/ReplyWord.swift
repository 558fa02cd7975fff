/// One of several words in a reply. A newer daemon may use words that this version does not know: they
/// are kept as text, so that only the reader of the word is affected, not the whole reply.
package struct ReplyWord<Known: RawRepresentable<String>>: Hashable, Sendable, Codable {
    /// The word on the socket.
    package let text: String

    package init(_ known: Known) {
        text = known.rawValue
    }

    package init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
    }

    /// The meaning of the word, or nil if this version does not know it.
    package var known: Known? { Known(rawValue: text) }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// Returns whether a word is present and has this meaning.
package func == <Known>(word: ReplyWord<Known>?, known: Known) -> Bool { word?.text == known.rawValue }

/// Returns whether a word is absent or has another meaning.
package func != <Known>(word: ReplyWord<Known>?, known: Known) -> Bool { !(word == known) }
