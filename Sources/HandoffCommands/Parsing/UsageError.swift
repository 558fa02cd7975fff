import HandoffModel
import LoopIO

/// An invalid command line. Ends the program with exit status 2.
package struct UsageError: Error, Equatable, Sendable {
    /// The problem, as a lower-case fragment without a period.
    package let message: String
    /// The command whose help describes the correct usage; nil for the overview.
    let command: String?

    private init(_ message: String, command: String? = nil) {
        self.message = message
        self.command = command
    }

    static func noCommand() -> UsageError {
        UsageError("no command given")
    }

    static func unknownCommand(_ word: String, suggestion: String?) -> UsageError {
        UsageError("unknown command '\(word)'" + didYouMean(suggestion))
    }

    static func missingSubcommand(of group: String, choices: [String]) -> UsageError {
        UsageError("'\(group)' needs one of: \(choices.joined(separator: ", "))", command: group)
    }

    static func unknownSubcommand(_ word: String, of group: String, suggestion: String?) -> UsageError {
        UsageError("unknown command '\(group) \(word)'" + didYouMean(suggestion), command: group)
    }

    /// An option that the scanner cannot accept.
    /// - Parameter options: the options allowed at its position.
    init(_ error: ArgumentError, options: [OptionSpecification], command: String?) {
        switch error {
        case .unknownOption(let name):
            let suggestion = Spelling.nearest(to: name, among: options.map(\.name))
            self.init("unknown option '\(name)'" + Self.didYouMean(suggestion), command: command)
        case .missingValue(let option): self = .missingValue(option, command: command)
        case .optionAsValue(let option, let value):
            self.init(
                "option '\(option.name)' needs a value, but '\(value)' is an option; "
                    + "to pass it as the value, write \(option.name)=\(value)", command: command)
        case .unexpectedValue(let name): self.init("option '\(name)' takes no value", command: command)
        case .repeatedOption(let name): self.init("option '\(name)' can be given only once", command: command)
        }
    }

    static func misplacedOption(_ option: String) -> UsageError {
        UsageError("option '\(option)' must follow the command; only --socket and --json can precede it")
    }

    static func missingValue(_ option: OptionSpecification, command: String?) -> UsageError {
        UsageError("option '\(option.name)' needs a value: \(option.synopsis)", command: command)
    }

    static func missingZone(_ address: StaticAddress, command: String) -> UsageError {
        UsageError("address '\(address.text)' has no interface: \(address.zoneAdvice)", command: command)
    }

    static func missingOperand(_ specification: CommandSpecification) -> UsageError {
        let operands = specification.operands.map(\.synopsis).joined(separator: " ")
        return UsageError("'\(specification.name)' needs \(operands)", command: specification.name)
    }

    static func extraOperand(_ operand: String, _ specification: CommandSpecification) -> UsageError {
        UsageError("'\(specification.name)' does not take '\(operand)'", command: specification.name)
    }

    static func badValue(_ value: String, of what: String, expected: String, command: String) -> UsageError {
        UsageError("\(what) '\(value)' is not \(expected)", command: command)
    }

    /// A URL that cannot be offered as a page.
    static func notAPage(_ url: String, of what: String, why: WebURL.Problem, command: String) -> UsageError {
        UsageError("\(what) '\(shortened(url))' cannot be offered as a page: \(why)", command: command)
    }

    /// A file URL where a path is expected.
    static func fileURL(_ url: String, command: String) -> UsageError {
        UsageError("'\(shortened(url))' is a file URL; use the path of the file instead", command: command)
    }

    /// Truncates a long value to a recognisable prefix.
    private static func shortened(_ text: String) -> String {
        text.utf8.count > 200 ? text.prefix(utf8Count: 200) + "…" : text
    }

    static func emptyValue(of what: String) -> UsageError {
        UsageError("\(what) is empty")
    }

    static func conflict(_ first: String, _ second: String, command: String) -> UsageError {
        UsageError("\(first) and \(second) cannot be used together", command: command)
    }

    /// An option that has no effect without another one.
    static func missing(_ needed: String, for option: String, command: String) -> UsageError {
        UsageError("\(option) needs \(needed)", command: command)
    }

    /// An invalid value, with the location and reason.
    static func malformed(_ what: String, why: String, command: String) -> UsageError {
        UsageError("\(what): \(why)", command: command)
    }

    /// A code given as an argument, which every user of the machine can read. The message does not
    /// repeat it.
    static func codeAsArgument() -> UsageError {
        UsageError(
            "the code cannot be an argument: other users of this machine could read it, and the shell saves it; "
                + "run 'handoffctl join' and type the code when prompted", command: "join")
    }

    private static func didYouMean(_ suggestion: String?) -> String {
        suggestion.map { "; did you mean '\($0)'?" } ?? ""
    }
}
