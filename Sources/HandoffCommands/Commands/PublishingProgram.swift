import LoopIO

/// A program of Handoff that publishes in place of `handoffctl publish`, with its own options.
struct PublishingProgram: Equatable {
    /// The options of `publish` that select such a program or are for one.
    private static let own: Set = ["--git", "--untracked", "--session", "--read-only", "--to"]

    /// Its name and its arguments.
    let words: [String]

    /// Returns nil if the arguments name something that `publish` offers itself.
    init?(_ arguments: ParsedArguments) throws(UsageError) {
        let command = PublishCommand.specification.name
        let session = arguments.value("--session")
        let isGit = arguments.has("--git")
        for (option, needed) in [("--untracked", "--git"), ("--read-only", "--session")] where arguments.has(option) {
            guard needed == "--git" ? isGit : session != nil else {
                throw .missing(needed, for: option, command: command)
            }
        }
        guard isGit || session != nil else { return nil }
        let selected = isGit ? "--git" : "--session"
        if isGit, session != nil { throw .conflict("--git", "--session", command: command) }
        for option in PublishCommand.specification.options where !Self.own.contains(option.name) {
            guard arguments.all(option.name).isEmpty else {
                throw .conflict(selected, option.name, command: command)
            }
        }
        let recipient = try arguments.value("--to").map { (text) throws(UsageError) in
            ["--to", try ArgumentValue.text(text, option: "--to")]
        }
        if let session {
            if let operand = arguments.operands.first { throw .conflict("--session", "'\(operand)'", command: command) }
            if arguments.has("--json") { throw .conflict("--session", "--json", command: command) }
            words =
                ["handoff-terminal", "share"] + (recipient ?? [])
                + (arguments.has("--read-only") ? ["--read-only"] : [])
                + [try ArgumentValue.text(session, option: "--session")]
        } else {
            let folder = arguments.operands.first ?? "."
            // A path is never an option.
            let path = folder.utf8.first == UInt8(ascii: "-") ? "./" + folder : folder
            words =
                ["handoff-git", "publish"] + (recipient ?? [])
                + ["--json", "--untracked"].filter(arguments.has) + [path]
        }
    }

    /// Continues in the program. Ends the command if that is impossible.
    func run(in context: CommandContext) {
        context.replace(by: words)
    }
}
