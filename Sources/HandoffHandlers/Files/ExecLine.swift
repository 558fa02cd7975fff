/// The value of `Exec` in a desktop entry: words with quotes and field codes.
///
/// https://specifications.freedesktop.org/desktop-entry-spec/latest/exec-variables.html
enum ExecLine {
    /// The program: the first word, without its quotes; nil when there is none.
    static func program(_ text: String) -> String? { words(text)?.first }

    /// The words; nil when a quote is not closed, or there are none. The value's own escapes were undone before.
    static func words(_ text: String) -> [String]? {
        var words: [String] = []
        var word: String?
        var isQuoted = false
        var isEscaped = false
        for character in text {
            if isEscaped {
                word = (word ?? "") + String(character)
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
                word = word ?? ""
            } else if !isQuoted, character == " " || character == "\t" {
                if let word { words.append(word) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        guard !isQuoted, !isEscaped else { return nil }
        if let word { words.append(word) }
        return words.first?.isEmpty == false ? words : nil
    }
}
