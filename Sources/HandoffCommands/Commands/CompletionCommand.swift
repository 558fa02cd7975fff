import HandoffJSON

/// `completion`: prints shell completion scripts, and answers their requests for candidates.
package struct CompletionCommand: Command {
    package static let specification = CommandSpecification(
        words: ["completion"], operands: "bash|zsh|fish", operandCount: 1...Int.max,
        summary: "print the completion script for a shell",
        details: """
            Packages install the script. To use it in the current shell: source <(handoffctl completion bash).
            The script runs 'handoffctl completion words -- WORD...' to get candidates for the last word: commands and
            options, and devices, activities and types from the daemon. If the daemon is not running, those are omitted
            without an error.
            """,
        example: "handoffctl completion bash")

    private enum Task {
        case script(CompletionScript)
        case words([String])
    }

    private let task: Task

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        let first = arguments.operands.first ?? ""
        if first == "words" {
            task = .words(Array(arguments.operands.dropFirst()))
            return
        }
        guard let script = CompletionScript(rawValue: first) else {
            throw .badValue(first, of: "shell", expected: "bash, zsh or fish", command: Self.specification.name)
        }
        if let extra = arguments.operands.dropFirst().first { throw .extraOperand(extra, Self.specification) }
        task = .script(script)
    }

    package func run(in context: CommandContext) {
        switch task {
        case .script(let script):
            if context.json {
                context.console.line(["shell": .string(script.rawValue), "script": .string(script.text)])
            } else {
                context.console.write(script.text)
            }
            context.finish(.done)
        case .words(let words):
            let session = CompletionSession(CompletionQuery(words), context)
            context.keep(session)
            session.start()
        }
    }
}
