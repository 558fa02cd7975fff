package import LoopIO

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
        let scan = try CommandScan(arguments, table: table)
        if let option = scan.openOption {
            throw .missingValue(option, command: scan.command?.specification.name)
        }
        let parsed = scan.scanner.arguments
        socket = parsed.value("--socket")
        json = parsed.has("--json")
        if parsed.has("--help") {
            request = .help(scan.words)
        } else if scan.wantsVersion {
            request = .version
        } else if let command = scan.command {
            try Self.checkOperands(parsed.operands, of: command.specification)
            request = .command(command, parsed)
        } else if let group = scan.words.first {
            throw .missingSubcommand(of: group, choices: table.subcommands(of: group))
        } else {
            throw .noCommand()
        }
        if let socket, socket.isEmpty { throw .emptyValue(of: "--socket") }
    }

    /// Rejects too few or too many operands.
    private static func checkOperands(
        _ operands: [String], of specification: CommandSpecification
    ) throws(UsageError) {
        if operands.count < specification.operandCount.lowerBound { throw .missingOperand(specification) }
        if let extra = operands.dropFirst(specification.operandCount.upperBound).first {
            throw .extraOperand(extra, specification)
        }
    }

    /// Returns true if errors should be printed as JSON, even if the command line cannot be parsed.
    package static func wantsJSON(_ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains("--json")
    }
}
