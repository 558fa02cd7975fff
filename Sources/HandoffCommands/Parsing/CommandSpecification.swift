package import LoopIO

/// The name, operands, options and help text of a command.
package struct CommandSpecification: Sendable {
    /// The words of the name: `["account", "create"]`.
    package let words: [String]
    /// The operands, in the order of the usage line.
    let operands: [Operand]
    /// The number of operands the command accepts.
    let operandCount: ClosedRange<Int>
    /// One line of help, in lower case, without a period.
    package let summary: String
    /// The command's own options. The global options are added to every command.
    package let options: [OptionSpecification]
    /// Help beyond the options: paragraphs of complete sentences and tables of two columns, which
    /// are indented by two spaces; may be empty. `scripts/manual` formats it for the pages.
    package let details: String
    /// A complete, working command line.
    package let example: String

    /// - Parameter operandCount: nil for the number that `operands` shows. A command that validates
    ///   the number itself accepts others.
    init(
        words: [String], operands: [Operand] = [], operandCount: ClosedRange<Int>? = nil, summary: String,
        options: [OptionSpecification] = [], details: String = "", example: String
    ) {
        self.words = words
        self.operands = operands
        self.operandCount = operandCount ?? Operand.count(operands)
        self.summary = summary
        self.options = options
        self.details = details
        self.example = example
    }

    /// The name as typed: `account create`.
    package var name: String { words.joined(separator: " ") }

    /// The name with its operands, as shown in overviews: `publish TYPE`.
    package var title: String { ([name] + operands.map(\.synopsis)).joined(separator: " ") }

    /// The name with operands and options, as shown in the usage line.
    package var usage: String {
        let shown = options.map { option in
            if case .values = option.form { "[\(option.synopsis)]..." } else { "[\(option.synopsis)]" }
        }
        return ([title] + shown).joined(separator: " ")
    }

    /// Returns the operand at a position of the command line; nil if the usage line shows none.
    func operand(at index: Int) -> Operand? {
        if index < operands.count { return operands[index] }
        return operands.last.flatMap { $0.isRepeatable ? $0 : nil }
    }
}

/// One operand of a command, as shown in its usage line.
struct Operand: Sendable, Equatable {
    let placeholder: Placeholder
    /// The number of words that it can stand for.
    let count: ClosedRange<Int>

    /// `TYPE`
    static func one(_ placeholder: Placeholder) -> Operand { Operand(placeholder: placeholder, count: 1...1) }

    /// `[ID]`
    static func optional(_ placeholder: Placeholder) -> Operand {
        Operand(placeholder: placeholder, count: 0...1)
    }

    /// `TYPE...`, or `[FILE]...` if there may be none.
    static func several(_ placeholder: Placeholder, _ count: ClosedRange<Int>) -> Operand {
        Operand(placeholder: placeholder, count: count)
    }

    var isRepeatable: Bool { count.upperBound > 1 }

    var synopsis: String {
        (count.lowerBound == 0 ? "[\(placeholder.text)]" : placeholder.text) + (isRepeatable ? "..." : "")
    }

    static func count(_ operands: [Operand]) -> ClosedRange<Int> {
        operands.reduce(0...0) { $0.lowerBound + $1.count.lowerBound...$0.upperBound + $1.count.upperBound }
    }
}

extension OptionSpecification {
    /// Options of every command, before or after its name.
    package static let global: [OptionSpecification] = [
        OptionSpecification(
            "--socket", .value(.path), "the daemon's control socket (default: $HANDOFF_SOCKET, else the user's)"),
        OptionSpecification("--json", .flag, "one JSON object per line, each with \"version\": 1"),
        OptionSpecification("--help", .flag, "show this help"),
    ]
}
