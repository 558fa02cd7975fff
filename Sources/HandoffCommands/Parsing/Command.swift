/// One command of `handoffctl`. Arguments are validated separately from the work, so that usage
/// errors are reported before anything is changed, and can be tested without a daemon.
package protocol Command: SendableMetatype {
    /// The name, operands, options and help of the command.
    static var specification: CommandSpecification { get }

    /// Validates the arguments.
    /// - Throws: `UsageError` when a value is malformed.
    init(validating arguments: ParsedArguments) throws(UsageError)

    /// Starts the work. The context's loop drives it until `finish` is called on the context.
    func run(in context: CommandContext)
}

/// The name, operands, options and help text of a command.
package struct CommandSpecification: Sendable {
    /// The words of the name: `["account", "create"]`.
    package let words: [String]
    /// The operands as shown in the usage line: `TYPE...`; empty if there are none.
    package let operands: String
    /// The number of operands the command accepts.
    package let operandCount: ClosedRange<Int>
    /// One line of help, in lower case, without a period.
    package let summary: String
    /// The command's own options. The global options are added to every command.
    package let options: [OptionSpecification]
    /// Help beyond the options, in complete sentences; may be empty.
    package let details: String
    /// A complete, working command line.
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

    /// The name as typed: `account create`.
    package var name: String { words.joined(separator: " ") }

    /// The name with its operands, as shown in overviews: `publish TYPE`.
    package var title: String { operands.isEmpty ? name : "\(name) \(operands)" }

    /// The name with operands and options, as shown in the usage line.
    package var usage: String {
        let shown = options.map { option in
            if case .values = option.form { "[\(option.synopsis)]..." } else { "[\(option.synopsis)]" }
        }
        return ([title] + shown).joined(separator: " ")
    }

    /// Returns the option with this name, from the command's own and the global options.
    package func option(named name: String) -> OptionSpecification? {
        (options + OptionSpecification.global).first { $0.name == name }
    }
}

/// The name, value form and help text of one option.
package struct OptionSpecification: Sendable, Equatable {
    /// The value that follows the option's name.
    package enum Form: Sendable, Equatable {
        /// No value.
        case flag
        /// One value. Giving the option twice is a usage error.
        case value(String)
        /// One value per use; the option may be repeated.
        case values(String)
    }

    /// The name with its dashes: `--title`.
    package let name: String
    /// The form of the value. The text is the placeholder shown in help.
    package let form: Form
    /// One line of help, in lower case, without a period.
    package let summary: String

    package init(_ name: String, _ form: Form, _ summary: String) {
        self.name = name
        self.form = form
        self.summary = summary
    }

    /// The option as shown in help and usage lines: `--title TEXT`.
    package var synopsis: String {
        switch form {
        case .flag: name
        case .value(let placeholder), .values(let placeholder): "\(name) \(placeholder)"
        }
    }

    /// True if the value is or contains a path, which may not be valid UTF-8.
    var takesPath: Bool {
        switch form {
        case .flag: false
        case .value(let placeholder), .values(let placeholder): placeholder.namesPath
        }
    }

    /// Options of every command, before or after its name.
    package static let global: [OptionSpecification] = [
        OptionSpecification(
            "--socket", .value("PATH"), "the daemon's control socket (default: $HANDOFF_SOCKET, else the user's)"),
        OptionSpecification("--json", .flag, "one JSON object per line, each with \"version\": 1"),
        OptionSpecification("--help", .flag, "show this help"),
    ]
}

extension String {
    /// True if a placeholder can stand for a path or a shell command.
    var namesPath: Bool { ["COMMAND", "FILE", "FOLDER", "PATH"].contains { contains($0) } }
}
