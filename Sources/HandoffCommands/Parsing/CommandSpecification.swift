/// What a command is called, what it takes, and what help says about it.
package struct CommandSpecification: Sendable {
    /// The words that name it: `["account", "create"]`.
    package let words: [String]
    /// The operands as usage shows them: `TYPE...`; empty when there are none.
    package let operands: String
    /// How many operands it takes.
    package let operandCount: ClosedRange<Int>
    /// One line of help, lower case, without full stop.
    package let summary: String
    /// Its own options; the global ones are added everywhere.
    package let options: [OptionSpecification]
    /// What a reader should know beyond the options; whole sentences, may be empty.
    package let details: String
    /// A command line that works as it stands.
    package let example: String

    package init(
        words: [String], operands: String = "", operandCount: ClosedRange<Int> = 0...0, summary: String,
        options: [OptionSpecification] = [], details: String = "", example: String
    ) {
        self.words = words
        self.operands = operands
        self.operandCount = operandCount
        self.summary = summary
        self.options = options
        self.details = details
        self.example = example
    }

    /// The name as it is typed: `account create`.
    package var name: String { words.joined(separator: " ") }

    /// The name with its operands, as overviews show it: `publish TYPE`.
    package var title: String { operands.isEmpty ? name : "\(name) \(operands)" }

    /// The name with operands and options, as the usage line shows it.
    package var usage: String {
        let shown = options.map { option in
            if case .values = option.form { "[\(option.synopsis)]..." } else { "[\(option.synopsis)]" }
        }
        return ([title] + shown).joined(separator: " ")
    }

    /// The option of that name, among its own and the global ones.
    package func option(named name: String) -> OptionSpecification? {
        (options + OptionSpecification.global).first { $0.name == name }
    }
}
