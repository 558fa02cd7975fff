/// Splits configuration files into lines and words.
enum ConfigurationText {
    /// Returns the lines without leading and trailing whitespace.
    static func lines(_ text: String) -> [String] {
        text.split(whereSeparator: \.isNewline).map { trimmed(String($0)) }
    }

    /// Returns the text without leading and trailing whitespace.
    static func trimmed(_ text: String) -> String {
        let isBlank = { (character: Character) in character.isWhitespace }
        return String(text.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
}
