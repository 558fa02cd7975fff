import HandoffJSON

/// What may stand where the cursor is, as the shells' scripts are told it.
package struct CompletionAnswer: Sendable, Equatable {
    /// A word that may stand there.
    package struct Candidate: Sendable, Equatable {
        /// The whole word, unquoted: the script quotes it for its shell.
        package let word: String
        /// What it means, on one line; may be empty.
        package let meaning: String

        package init(_ word: String, _ meaning: String = "") {
            self.word = word
            self.meaning = meaning
        }
    }

    /// What only the daemon knows.
    package enum Subject: Sendable, Equatable {
        /// A device of the account.
        case device
        /// A device of the account but this one.
        case otherDevice
        /// An activity that another device offers.
        case activity
        /// A type of which another device offers something.
        case type
        /// An app that continues activities here, or could.
        case app
        /// An account file that was not used yet.
        case ticket
    }

    /// What kind of thing is looked for.
    package enum Kind: Sendable, Equatable {
        /// One of the candidates.
        case words
        /// The name of a file, after a text that stands in the same word, such as `--output=` or `@`.
        case files(after: String)
        /// What the daemon is to be asked for; `before` is what stands in the same word, `begun` what has been typed of it.
        case asked(Subject, before: String, begun: String)
    }

    /// What is looked for.
    package var kind: Kind
    /// What it may be, as far as that is known without the daemon.
    package var candidates: [Candidate]

    package init(_ kind: Kind = .words, _ candidates: [Candidate] = []) {
        self.kind = kind
        self.candidates = candidates
    }

    /// The answer as the scripts read it: `words`, or `files` and what stands before the name; then a line for each
    /// candidate, with its meaning after a tab.
    package var text: String {
        var lines: [String]
        if case .files(let before) = kind { lines = ["files \(before)"] } else { lines = ["words"] }
        // A line for a line: what would break it could also be taken for something else by a terminal.
        lines += candidates.filter { !Self.breaksLine($0.word) }.map { "\($0.word)\t\($0.meaning)" }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The answer as `--json` prints it.
    var json: JSONObject {
        let words = candidates.map { JSON.object(["word": .string($0.word), "meaning": .string($0.meaning)]) }
        guard case .files(let before) = kind else { return ["kind": "words", "candidates": .array(words)] }
        return ["kind": "files", "after": .string(before), "candidates": .array(words)]
    }

    private static func breaksLine(_ word: String) -> Bool {
        word.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
    }
}
