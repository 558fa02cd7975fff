import HandoffJSON
package import LoopIO

/// `completion`: prints shell completion scripts, and answers their requests for candidates.
package struct CompletionCommand: Command {
    package static let specification = CommandSpecification(
        words: ["completion"], operands: [.one(.words(CompletionScript.allCases.map(\.rawValue)))],
        operandCount: 1...Int.max,
        summary: "print the completion script for a shell",
        details: """
            The script completes commands, options, devices, activities and types. Packages install it. To use it in
            the current shell: 'source <(handoffctl completion bash)'.

            The script contains no commands. It runs 'handoffctl completion words -- WORD...' to get the candidates for
            the last word. That output starts with a line 'words', or 'files' and the text before a file's name in the
            same word. A line for each candidate follows, with its meaning after a tab. The daemon is queried only for
            what it alone knows, for a second at most. If it is not running, those candidates are omitted, and the exit
            status is 0. This device is not a candidate where a command refuses it.

            With --json: shell, script. With 'words': kind (words or files), after (of files), candidates (each word,
            meaning).
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
