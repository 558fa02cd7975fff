import HandoffModel

/// A parsed command line: the command, its arguments, and the global options.
package struct Invocation: Sendable {
    /// The requested action.
    package enum Request: Sendable {
        /// Help on a command or group. No words means the overview.
        case help([String])
        /// The version of this program.
        case version
        /// A command with its arguments.
        case command(any Command.Type, ParsedArguments)
    }

    package let request: Request
    /// The value of `--socket`, if given.
    package let socket: String?
    /// True if `--json` was given.
    package let json: Bool

    /// Parses a command line.
    /// - Parameter arguments: the words after the program's name.
    /// - Throws: `UsageError` for every error that can be detected without the command's own
    ///   validation.
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

    /// Returns true if errors should be printed as JSON, even if the command line cannot be parsed.
    package static func wantsJSON(_ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains("--json")
    }
}
