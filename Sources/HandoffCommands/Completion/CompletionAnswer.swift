import HandoffJSON

/// The completions at the cursor, as sent to the shell scripts.
package struct CompletionAnswer: Sendable, Equatable {
    /// A possible word.
    package struct Candidate: Sendable, Equatable {
        /// The whole word, unquoted. The script quotes it for its shell.
        package let word: String
        /// The word's meaning, on one line; may be empty.
        package let meaning: String

        package init(_ word: String, _ meaning: String = "") {
            self.word = word
            self.meaning = meaning
        }
    }

    /// Candidates that only the daemon knows.
    package enum Subject: Sendable, Equatable {
        /// A device of the account.
        case device
        /// A device of the account other than this one.
        case otherDevice
        /// An activity that another device offers.
        case activity
        /// A type of an activity that another device offers.
        case type
        /// An app that continues activities here, or that could.
        case app
        /// An account file that has not been used yet.
        case ticket
    }

    /// The kind of completion.
    package enum Kind: Sendable, Equatable {
        /// One of the candidates.
        case words
        /// A file name, after a text in the same word, such as `--output=` or `@`.
        case files(after: String)
        /// Candidates from the daemon. `before` is the text before them in the same word; `begun`
        /// is the part already typed.
        case asked(Subject, before: String, begun: String)
    }

    /// The kind of completion.
    package var kind: Kind
    /// The candidates known without the daemon.
    package var candidates: [Candidate]

    package init(_ kind: Kind = .words, _ candidates: [Candidate] = []) {
        self.kind = kind
        self.candidates = candidates
    }

    /// The reply in the format that the scripts parse: `words`, or `files` and the text before the
    /// name. Then a line for each candidate, with its meaning after a tab.
    package var text: String {
        var lines: [String]
        if case .files(let before) = kind { lines = ["files \(before)"] } else { lines = ["words"] }
        // Omit words with control characters, which would break lines and could control a terminal.
        lines += candidates.filter { !Self.breaksLine($0.word) }.map { "\($0.word)\t\($0.meaning)" }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The reply as printed with `--json`.
    var json: JSONObject {
        let words = candidates.map { JSON.object(["word": .string($0.word), "meaning": .string($0.meaning)]) }
        guard case .files(let before) = kind else { return ["kind": "words", "candidates": .array(words)] }
        return ["kind": "files", "after": .string(before), "candidates": .array(words)]
    }

    private static func breaksLine(_ word: String) -> Bool {
        word.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
    }
}
