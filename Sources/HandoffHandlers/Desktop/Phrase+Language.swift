extension Phrase {
    /// Returns the translation of a message, of its plural form for a number. Without a translation,
    /// it returns the message or the plural.
    package typealias Translation = (_ message: String, _ plural: String?, _ count: Int64) -> String

    /// English.
    package static let english: @Sendable (String, String?, Int64) -> String = { message, plural, count in
        count == 1 ? message : plural ?? message
    }

    private static let separator = Text.message(", ")
    /// The maximum number of values, and of bytes in a message. Ours have far less.
    private static let maxValues = 8
    private static let maxMessage = 4096

    /// False if the phrase would take long to compose.
    var isBounded: Bool {
        message.utf8.count <= Self.maxMessage && (plural?.utf8.count ?? 0) <= Self.maxMessage
            && values.count <= Self.maxValues
    }

    /// Returns the text in a language.
    package func text(_ translate: Translation = Phrase.english) -> String {
        let template = Self.translated(message, plural, count ?? 0, translate)
        return Self.parts(of: template).map { part in
            guard case .name(let name) = part else { return part.text }
            if name == "count", let count { return String(count) }
            let texts = values.first { $0.name == name }?.texts ?? []
            return texts.map { $0.text(translate) }.joined(separator: Self.separator.text(translate))
        }.joined()
    }

    /// Returns the translation if it has the names of the English message, whose values would
    /// otherwise be missing.
    fileprivate static func translated(
        _ message: String, _ plural: String?, _ count: Int64, _ translate: Translation
    ) -> String {
        let english = Phrase.english(message, plural, count)
        // The translation of the empty message is the header of the file.
        guard !message.isEmpty else { return english }
        let translation = translate(message, plural, count)
        func names(_ text: String) -> Set<String> { Set(parts(of: text).compactMap(\.name)) }
        return names(translation) == names(english) ? translation : english
    }

    private enum Part {
        case literal(String)
        /// A name in braces.
        case name(String)

        var name: String? { if case .name(let name) = self { name } else { nil } }
        var text: String { if case .literal(let text) = self { text } else { "" } }
    }

    private static func parts(of template: String) -> [Part] {
        var parts: [Part] = []
        var rest = template[...]
        while let start = rest.firstIndex(of: "{"), let end = rest[start...].firstIndex(of: "}") {
            parts += [.literal(String(rest[..<start])), .name(String(rest[start..<end].dropFirst()))]
            rest = rest[end...].dropFirst()
        }
        return parts + [.literal(String(rest))]
    }
}

extension Phrase.Text {
    /// Returns the text in a language.
    package func text(_ translate: Phrase.Translation = Phrase.english) -> String {
        isMessage ? Phrase.translated(text, nil, 0, translate) : text
    }
}
