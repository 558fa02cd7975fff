/// One command of `handoffctl`. Reading its arguments is apart from doing its work, so that wrong usage is found
/// before anything is touched, and can be tested without a daemon.
package protocol Command: SendableMetatype {
    /// What it is called and what it takes.
    static var specification: CommandSpecification { get }

    /// Understands the arguments.
    /// - Throws: `UsageError` when a value is not of the right form.
    init(validating arguments: ParsedArguments) throws(UsageError)

    /// Begins the work; the context's loop goes on with it until the context is told that it is finished.
    func run(in context: CommandContext)
}

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

/// One option of a command: how it is written, what it takes, and what help says about it.
package struct OptionSpecification: Sendable, Equatable {
    /// What follows the option's name.
    package enum Form: Sendable, Equatable {
        /// Nothing: the option is there or not.
        case flag
        /// One value; giving the option twice is wrong usage.
        case value(String)
        /// One value each time, any number of times.
        case values(String)
    }

    /// The name with its dashes: `--title`.
    package let name: String
    /// What follows the name; the text is the placeholder that help shows.
    package let form: Form
    /// One line of help, lower case, without full stop.
    package let summary: String

    package init(_ name: String, _ form: Form, _ summary: String) {
        self.name = name
        self.form = form
        self.summary = summary
    }

    /// The option as help and usage lines show it: `--title TEXT`.
    package var synopsis: String {
        switch form {
        case .flag: name
        case .value(let placeholder), .values(let placeholder): "\(name) \(placeholder)"
        }
    }

    /// True if its value is or contains a path, which need not be UTF-8.
    var takesPath: Bool {
        switch form {
        case .flag: false
        case .value(let placeholder), .values(let placeholder): placeholder.namesPath
        }
    }

    /// Options that every command takes, before or after its name.
    package static let global: [OptionSpecification] = [
        OptionSpecification(
            "--socket", .value("PATH"), "the daemon's control socket (default: $HANDOFF_SOCKET, else the user's)"),
        OptionSpecification("--json", .flag, "one JSON object per line, each with \"version\": 1"),
        OptionSpecification("--help", .flag, "this help"),
    ]
}

extension String {
    /// True if a placeholder of help stands for a path or a command of a shell, among other things.
    var namesPath: Bool { ["COMMAND", "FILE", "FOLDER", "PATH"].contains { contains($0) } }
}
