import HandoffJSON
import HandoffModel
package import LoopIO

/// `help`: shows the overview, or help on one command.
package struct HelpCommand: Command {
    package static let specification = CommandSpecification(
        words: ["help"], operands: [.optional(.command)], operandCount: 0...2, summary: "show help for a command",
        details: """
            COMMAND is a command, or the first word of several: 'handoffctl help account'. Without it, all commands are
            listed. For an unknown word, the nearest known one is suggested.

            With --json: help (the text).
            """,
        example: "handoffctl help publish")

    private let text: String

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        text = try HelpText.text(for: arguments.operands)
    }

    package func run(in context: CommandContext) {
        context.console.writeHelp(text, json: context.json)
        context.finish(.done)
    }
}

extension Console {
    /// Writes help as plain text, or with `--json` as one field.
    func writeHelp(_ text: String, json: Bool) {
        if json { line(["help": .string(text)]) } else { write(text) }
    }
}

/// The help text: an overview, a group, or one command.
package enum HelpText {
    /// Returns help on the command or group with this name.
    /// - Throws: `UsageError` if there is none.
    package static func text(for words: [String], table: CommandTable = .standard) throws(UsageError) -> String {
        guard let first = words.first else { return overview(table) }
        switch table.find(words) {
        case .command(let command): return text(of: command.specification)
        case .group: return group(first, table)
        case .none where words.count == 1:
            throw .unknownCommand(first, suggestion: table.suggestion(for: first))
        case .none:
            let suggestion = Spelling.nearest(to: words[1], among: table.subcommands(of: first))
            throw .unknownSubcommand(words[1], of: first, suggestion: suggestion.map { "\(first) \($0)" })
        }
    }

    /// Used instead of a command, so it is not an option of any command.
    private static let version = ("--version", "print the version of handoffctl")

    private static func overview(_ table: CommandTable) -> String {
        """
        Start something on one device and continue it on another.

        Usage: handoffctl [--socket PATH] [--json] COMMAND

        Commands:
        \(HelpColumns.text(table.commands.map { ($0.specification.title, $0.specification.summary) }))

        Options for every command, before or after it:
        \(HelpColumns.text(OptionSpecification.global.map { ($0.synopsis, $0.summary) } + [version]))

        Exit status: 0 done, 1 failed, 2 wrong usage, 3 daemon not reachable, 4 nothing to continue.
        For help on a command: handoffctl help COMMAND

        """
    }

    private static func group(_ first: String, _ table: CommandTable) -> String {
        let members = table.commands.map { $0.specification }.filter { $0.words.first == first }
        return """
            Usage: handoffctl \(first) COMMAND

            Commands:
            \(HelpColumns.text(members.map { ($0.title, $0.summary) }))

            For help on a command: handoffctl help \(first) COMMAND

            """
    }

    private static func text(of command: CommandSpecification) -> String {
        var text = """
            Usage: handoffctl \(command.usage)

            \(command.summary.prefix(1).uppercased() + command.summary.dropFirst()).

            """
        if !command.details.isEmpty { text += "\n\(command.details)\n" }
        let options = command.options + OptionSpecification.global
        text += "\nOptions:\n\(HelpColumns.text(options.map { ($0.synopsis, $0.summary) }))\n"
        text += "\nExample:\n  \(command.example)\n"
        return text
    }
}
