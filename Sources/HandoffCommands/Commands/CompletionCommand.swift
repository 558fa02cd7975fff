import HandoffJSON

/// `completion`: the scripts by which shells complete command lines of this program, and what those scripts ask.
package struct CompletionCommand: Command {
    package static let specification = CommandSpecification(
        words: ["completion"], operands: "bash|zsh|fish", operandCount: 1...Int.max,
        summary: "print the script by which a shell completes commands of handoffctl",
        details: """
            Packages install it; to use it at once: source <(handoffctl completion bash).
            The script asks 'handoffctl completion words -- WORD...' what may stand for the last word: commands and options,
            and from the daemon devices, activities and types. Where there is no daemon it is silent.
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
