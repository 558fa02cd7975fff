import HandoffModel

/// A whole command line, taken apart: which command, its arguments, and the global options.
package struct Invocation: Sendable {
    /// What was asked for.
    package enum Request: Sendable {
        /// Help on some words; none of them means the overview.
        case help([String])
        /// The version of this program.
        case version
        /// A command with its arguments.
        case command(any Command.Type, ParsedArguments)
    }

    package let request: Request
    /// The path of `--socket`, if it was given.
    package let socket: String?
    /// Whether `--json` was given.
    package let json: Bool

    /// Takes a command line apart.
    /// - Parameter arguments: the words after the program's name.
    /// - Throws: `UsageError`, for everything that can be told without asking the command itself.
    package init(_ arguments: [String], table: CommandTable = .standard) throws(UsageError) {
        var scanner = ArgumentScanner(arguments, table: table)
        var words: [String] = []
        var command: (any Command.Type)?
        while command == nil, let argument = scanner.next() {
            switch argument {
            case .option(let text):
                try scanner.takeGlobal(text)
            case .operand(let word):
                words.append(word)
                switch table.find(words) {
                case .command(let found): command = found
                case .group: break
                case .none where words.count == 1:
                    throw .unknownCommand(word, suggestion: table.suggestion(for: word))
                case .none:
                    let choices = table.subcommands(of: words[0])
                    throw .unknownSubcommand(
                        word, of: words[0],
                        suggestion: Spelling.nearest(to: word, among: choices).map { "\(words[0]) \($0)" })
                }
            }
        }
        if let command { try scanner.takeRest(of: command.specification) }
        socket = scanner.arguments.value("--socket")
        json = scanner.arguments.has("--json")
        if scanner.arguments.has("--help") {
            request = .help(words)
        } else if scanner.wantsVersion {
            request = .version
        } else if let command {
            try scanner.checkOperands(of: command.specification)
            request = .command(command, scanner.arguments)
        } else if let group = words.first {
            throw .missingSubcommand(of: group, choices: table.subcommands(of: group))
        } else {
            throw .noCommand()
        }
        if let socket, socket.isEmpty { throw .emptyValue(of: "--socket") }
    }

    /// Whether the errors of this command line should be JSON, also when it cannot be parsed.
    package static func wantsJSON(_ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains("--json")
    }
}
