/// Lines and words of the small files that say how a machine is set up, whoever reads them.
enum ConfigurationText {
    /// The lines without blanks at their ends.
    static func lines(_ text: String) -> [String] {
        text.split(whereSeparator: \.isNewline).map { trimmed(String($0)) }
    }

    /// A text without blanks and line ends around it.
    static func trimmed(_ text: String) -> String {
        let isBlank = { (character: Character) in character.isWhitespace }
        return String(text.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
}
