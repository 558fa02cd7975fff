/// A text for the user, without its language: a message in English, and the values for the names in
/// braces. Plain values.
///
/// The daemon composes phrases, and the desktop service, which knows the language of the session,
/// translates them. Messages are literals of the program. Texts of other devices are only values,
/// which are inserted after the translation.
package struct Phrase: Codable, Equatable, Sendable {
    /// A text for a name in braces, or one of our messages without names.
    package struct Text: Codable, Hashable, Sendable {
        package let text: String
        /// True for a message, which is translated.
        package let isMessage: Bool

        private enum CodingKeys: String, CodingKey {
            case text
            case isMessage = "message"
        }

        /// A text that is not translated.
        package static func verbatim(_ text: String) -> Text { Text(text: text, isMessage: false) }

        /// A text that is translated. `scripts/translations` extracts it.
        package static func message(_ message: StaticString) -> Text {
            Text(text: message.description, isMessage: true)
        }
    }

    /// The texts for a name in braces: a list, if there are several.
    struct Value: Codable, Equatable, Sendable {
        let name: String
        let texts: [Text]
    }

    /// The English text, or the singular.
    let message: String
    /// The English plural; nil if the text does not depend on a number.
    let plural: String?
    /// The number, whose name is `count`.
    let count: Int64?
    let values: [Value]

    /// A phrase with values. `scripts/translations` extracts its message.
    package static func phrase(_ message: StaticString, _ values: KeyValuePairs<String, [Text]> = [:]) -> Phrase {
        Phrase(message: message.description, plural: nil, count: nil, values: values.map(Value.init))
    }

    /// A phrase with a number, `{count}`. `scripts/translations` extracts its messages.
    package static func plural(
        _ message: StaticString, _ plural: StaticString, _ count: Int, _ values: KeyValuePairs<String, [Text]> = [:]
    ) -> Phrase {
        Phrase(
            message: message.description, plural: plural.description, count: Int64(count),
            values: values.map(Value.init))
    }

    /// A text alone.
    package static func alone(_ text: Text) -> Phrase {
        Phrase(message: "{text}", plural: nil, count: nil, values: [Value(name: "text", texts: [text])])
    }
}
