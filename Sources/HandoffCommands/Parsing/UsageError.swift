package import HandoffModel

/// The command line was wrong: what, and where to read how it is right. Ends with exit status 2.
package struct UsageError: Error, Equatable, Sendable {
    /// What is wrong: a lower-case fragment without full stop.
    package let message: String
    /// The command whose help explains it; nil for the overview.
    package let command: String?

    private init(_ message: String, command: String? = nil) {
        self.message = message
        self.command = command
    }

    package static func noCommand() -> UsageError {
        UsageError("a command is missing")
    }

    package static func unknownCommand(_ word: String, suggestion: String?) -> UsageError {
        UsageError("unknown command '\(word)'" + didYouMean(suggestion))
    }

    package static func missingSubcommand(of group: String, choices: [String]) -> UsageError {
        UsageError("'\(group)' needs one of: \(choices.joined(separator: ", "))", command: group)
    }

    package static func unknownSubcommand(_ word: String, of group: String, suggestion: String?) -> UsageError {
        UsageError("unknown command '\(group) \(word)'" + didYouMean(suggestion), command: group)
    }

    package static func unknownOption(_ option: String, command: String?, suggestion: String?) -> UsageError {
        UsageError("unknown option '\(option)'" + didYouMean(suggestion), command: command)
    }

    package static func misplacedOption(_ option: String) -> UsageError {
        UsageError("option '\(option)' stands before the command; only --socket and --json may")
    }

    package static func missingValue(_ option: OptionSpecification, command: String?) -> UsageError {
        UsageError("option '\(option.name)' needs a value: \(option.synopsis)", command: command)
    }

    package static func optionAsValue(_ option: OptionSpecification, value: String, command: String?) -> UsageError {
        UsageError(
            "option '\(option.name)' needs a value, and '\(value)' is an option; "
                + "write \(option.name)=\(value) if it is meant", command: command)
    }

    package static func missingZone(_ address: StaticAddress, command: String) -> UsageError {
        UsageError("address '\(address.text)' has no interface: \(address.zoneAdvice)", command: command)
    }

    package static func unexpectedValue(_ option: String, command: String?) -> UsageError {
        UsageError("option '\(option)' takes no value", command: command)
    }

    package static func repeated(_ option: String, command: String?) -> UsageError {
        UsageError("option '\(option)' is given twice", command: command)
    }

    package static func missingOperand(_ specification: CommandSpecification) -> UsageError {
        UsageError("'\(specification.name)' needs \(specification.operands)", command: specification.name)
    }

    package static func extraOperand(_ operand: String, _ specification: CommandSpecification) -> UsageError {
        UsageError("'\(specification.name)' does not take '\(operand)'", command: specification.name)
    }

    package static func badValue(_ value: String, of what: String, expected: String, command: String) -> UsageError {
        UsageError("\(what) '\(value)' is not \(expected)", command: command)
    }

    /// An address that is no page which may be offered.
    package static func notAPage(_ url: String, of what: String, why: WebURL.Problem, command: String) -> UsageError {
        UsageError("\(what) '\(shortened(url))' cannot be offered as a page: \(why)", command: command)
    }

    /// The address of a file, where its path is meant.
    package static func fileURL(_ url: String, command: String) -> UsageError {
        UsageError("'\(shortened(url))' is the address of a file; name the file by its path", command: command)
    }

    /// A long value is recognized by its beginning.
    private static func shortened(_ text: String) -> String {
        text.utf8.count > 200 ? text.prefix(utf8Count: 200) + "…" : text
    }

    package static func emptyValue(of what: String) -> UsageError {
        UsageError("\(what) is empty")
    }

    package static func conflict(_ first: String, _ second: String, command: String) -> UsageError {
        UsageError("\(first) and \(second) exclude each other", command: command)
    }

    /// An option that changes nothing without another one.
    package static func missing(_ needed: String, for option: String, command: String) -> UsageError {
        UsageError("\(option) needs \(needed)", command: command)
    }

    /// A value that is wrong inside: which, where and why.
    package static func malformed(_ what: String, why: String, command: String) -> UsageError {
        UsageError("\(what): \(why)", command: command)
    }

    /// A code where every user of the machine can read it. The message does not repeat it.
    package static func codeAsArgument() -> UsageError {
        UsageError(
            "the code is never an argument: other users of this machine see those, and the shell keeps them; "
                + "run 'handoffctl join', and type it when you are asked", command: "join")
    }

    private static func didYouMean(_ suggestion: String?) -> String {
        suggestion.map { "; did you mean '\($0)'?" } ?? ""
    }
}
