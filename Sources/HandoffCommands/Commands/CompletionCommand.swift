import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
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

/// Replies to a shell with the completions at the cursor, and queries the daemon if needed. Prints
/// no error messages, which would disturb a user who is typing.
final class CompletionSession {
    /// The time limit for the daemon, while the user waits for the completion.
    private static let timeout = Duration.seconds(1)
    /// The maximum width of a meaning, in columns.
    private static let meaningWidth = 60

    private let query: CompletionQuery
    private let context: CommandContext
    private var client: ControlClient?

    init(_ query: CompletionQuery, _ context: CommandContext) {
        self.query = query
        self.context = context
    }

    func start() {
        guard case .asked(let subject, let before, let begun) = query.answer.kind else { return reply([]) }
        do {
            let client = try ControlClient(path: query.socket ?? context.socketPath, loop: context.loop)
            self.client = client
            context.after(Self.timeout) { [unowned self] in reply([]) }
            query(client, for: subject) { [unowned self] found in
                reply(
                    found.filter { $0.word.hasPrefix(begun) }.map { candidate in
                        let meaning = DisplayWidth.truncate(candidate.meaning, to: Self.meaningWidth)
                        return .init(before + candidate.word, meaning)
                    })
            }
        } catch {
            reply([])
        }
    }

    private func reply(_ candidates: [CompletionAnswer.Candidate]) {
        guard context.status == nil else { return }
        var answer = query.answer
        answer.candidates += candidates
        if context.json { context.console.line(answer.json) } else { context.console.write(answer.text) }
        client?.close()
        context.finish(.done)
    }

    private func query(
        _ client: ControlClient, for subject: CompletionAnswer.Subject,
        _ then: @escaping ([CompletionAnswer.Candidate]) -> Void
    ) {
        switch subject {
        case .device: client.listDevices { then(((try? $0.get()) ?? []).completions { _ in true }) }
        case .otherDevice: client.listDevices { then(((try? $0.get()) ?? []).completions { !$0.isSelf }) }
        case .activity: client.listActivities(here: false) { then(((try? $0.get()) ?? []).completions) }
        case .type: client.listActivities(here: false) { then(((try? $0.get()) ?? []).typeCompletions) }
        case .app: client.listApps { then(((try? $0.get()) ?? []).completions) }
        case .ticket: client.getAccount { then((try? $0.get())?.ticketCompletions ?? []) }
        }
    }
}

extension [ControlDevice] {
    /// Returns each device by name if the name is unambiguous, otherwise by id prefix.
    fileprivate func completions(where isWanted: (ControlDevice) -> Bool) -> [CompletionAnswer.Candidate] {
        let names = DeviceNames(self)
        return filter(isWanted).flatMap { device -> [CompletionAnswer.Candidate] in
            let id = names.beginning(of: device.id)
            let state = device.isSelf ? "this device" : device.online ? "online" : "offline"
            let isClear =
                names.label(of: device.id) == device.name && !device.name.hasPrefix("-")
                && VisibleText.escape(device.name) == device.name
            let name = VisibleText.escape(device.name)
            let byID = CompletionAnswer.Candidate(id, "\(name.isEmpty ? "unnamed" : name), \(state)")
            return isClear ? [.init(device.name, "\(id), \(state)")] : [byID]
        }
    }
}

extension [OfferedActivity] {
    fileprivate var completions: [CompletionAnswer.Candidate] {
        let length = ActivityID.distinctLength(map(\.id))
        return map { activity in
            let title = Describe.title(activity.title, type: activity.type)
            return .init(
                String(activity.id.hex.prefix(length)), "\(title) on \(VisibleText.escape(activity.deviceName))")
        }
    }

    /// Each type once, except types that would be parsed as options.
    fileprivate var typeCompletions: [CompletionAnswer.Candidate] {
        var seen: Set<String> = []
        return map(\.type.text).filter {
            seen.insert($0).inserted && !$0.hasPrefix("-")
        }
        .map { .init($0) }
    }
}

extension [ControlApp] {
    fileprivate var completions: [CompletionAnswer.Candidate] {
        filter { VisibleText.escape($0.id) == $0.id && !$0.id.hasPrefix("-") }.map { app in
            .init(app.id, VisibleText.escape(app.name) + (app.enabled ? "" : ", disabled"))
        }
    }
}

extension ControlAccount {
    fileprivate var ticketCompletions: [CompletionAnswer.Candidate] {
        tickets.map { .init(String($0.id.prefix(7)), "an account file that has not been used yet") }
    }
}
