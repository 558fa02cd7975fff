/// The value of `Exec` in a desktop entry: words with quotes and field codes.
///
/// https://specifications.freedesktop.org/desktop-entry-spec/latest/exec-variables.html
package struct ExecLine: Equatable, Sendable {
    /// The words without quotes, with unexpanded field codes. Not empty; the first is the program.
    package let words: [String]
    /// True if a field code is inside quotes, which the specification leaves undefined. Such a word
    /// is often a shell script (`sh -c "cat %f"`), where a file name would become code. Commands in
    /// Handoff's own keys must not have one.
    package let hasQuotedCode: Bool

    /// Parses a value whose escapes have been removed. Nil if a quote is not closed or there are no
    /// words.
    package init?(_ text: String) {
        guard let (words, hasQuotedCode) = Self.words(text) else { return nil }
        self.words = words
        self.hasQuotedCode = hasQuotedCode
    }

    /// The program: an absolute path, or a name to look up in `PATH`.
    package var program: String { words[0] }

    /// True if the command takes the address of a page (`%u`, `%U`).
    package var takesPage: Bool { has("u") || has("U") }

    /// True if the command takes the path of a file (`%f`, `%F`).
    package var takesFile: Bool { has("f") || has("F") }

    private func has(_ code: Character) -> Bool {
        words.contains { word in Self.pieces(word).contains { $0 == .code(code) } }
    }

    /// Returns the words to run. Field codes are replaced within their words, or removed if they
    /// have no value. A word that consists only of codes without a value is dropped.
    package func expanded(page: String? = nil, file: String? = nil) -> [String] {
        words.compactMap { word in
            let pieces = Self.pieces(word)
            let text = pieces.map { piece in
                switch piece {
                case .text(let text): text
                case .code("%"): "%"
                case .code("u"), .code("U"): page ?? ""
                case .code("f"), .code("F"): file ?? ""
                case .code: ""
                }
            }.joined()
            return text.isEmpty && !word.isEmpty ? nil : text
        }
    }

    private enum Piece: Equatable {
        case text(String)
        case code(Character)
    }

    private static func pieces(_ word: String) -> [Piece] {
        var pieces: [Piece] = []
        var text = ""
        var isCode = false
        for character in word {
            if isCode {
                pieces.append(.text(text))
                pieces.append(.code(character))
                text = ""
                isCode = false
            } else if character == "%" {
                isCode = true
            } else {
                text.append(character)
            }
        }
        return pieces + [.text(text)]
    }

    private static func words(_ text: String) -> (words: [String], hasQuotedCode: Bool)? {
        var words: [String] = []
        var hasQuotedCode = false
        var isPercent = false
        var word: String?
        var isQuoted = false
        var isEscaped = false
        for character in text {
            // An escaped percent sign, %%, is not a field code.
            if isPercent, isQuoted, character != "%" { hasQuotedCode = true }
            isPercent = character == "%" && !isPercent
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
        return words.first?.isEmpty == false ? (words, hasQuotedCode) : nil
    }
}
