import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel

/// `continue`: goes on here with what was begun on another device.
package struct ContinueCommand: Command {
    package static let specification = CommandSpecification(
        words: ["continue"], operands: "[ID]", operandCount: 0...1,
        summary: "continue here what another device offers",
        options: [
            OptionSpecification("--latest", .flag, "the most recent one that fits, without a question"),
            OptionSpecification("--type", .value("TYPE"), "only activities of this type"),
            OptionSpecification(
                "--from", .value("DEVICE"), "only from this device: its name, or the beginning of its id"),
            OptionSpecification("--timeout", .value("SECONDS"), "give up after this time"),
            OptionSpecification("--print", .flag, "open no app: print the activity with its payload"),
            OptionSpecification(
                "--output", .value("FILE|FOLDER|-"), "like --print, and save what the other app streams there"),
            OptionSpecification("--force", .flag, "with --output: replace or create a file, whatever its name"),
        ],
        details: """
            Opens the activity in the app that continues it, which is started if it does not run, or on the web, and prints what
            opened. handoffctl list says beforehand what that would be. Without an ID the most recent one that fits; on a
            terminal one of several is picked by the arrow keys or by its number.
            With --output a transfer that was cut goes on where it was: at once, or when the command is run again. A file gets
            its name only when it is complete and verified. A file that exists is replaced only with --force, and a path that leads
            nowhere becomes a file only if it has an extension, or with --force. Status 1 if any part of a folder is missing.
            With --output, --timeout is the maximum time without progress (default: 2 minutes).
            An ID may be shortened to any beginning that fits only one activity. Status 4: nothing on offer fits.
            """,
        example: "handoffctl continue --latest --type com.example.editing --print --json")

    /// Hexadecimal digits of an activity's id.
    private static let idDigits = ActivityID.byteCount * 2
    /// How long a continuation may take before a person is told what is being waited for.
    private static let silence = Duration.milliseconds(300)

    /// How much longer than asked for is waited for the daemon's own word.
    private static let grace = Duration.seconds(5)
    private let request: ContinueRequest
    private let isHandler: Bool
    /// Whether a person may be asked which one is meant.
    private let mayPick: Bool
    /// What is received; nil for nothing.
    private let receiving: ReceiveRequest?

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        let command = Self.specification.name
        var activity: String?
        if let id = arguments.operands.first {
            if arguments.has("--latest") { throw .conflict("an ID", "--latest", command: command) }
            activity = try ArgumentValue.identifier(id, digits: Self.idDigits, command: command)
        }
        var type: String?
        if let text = arguments.value("--type") {
            type = try ArgumentValue.activityType(text, command: command).text
        }
        var device: String?
        if let text = arguments.value("--from") { device = try ArgumentValue.text(text, option: "--from") }
        var timeout: Double?
        if let text = arguments.value("--timeout") {
            timeout = try ArgumentValue.seconds(text, option: "--timeout", command: command)
        }
        var output: String?
        if let text = arguments.value("--output") { output = try ArgumentValue.text(text, option: "--output") }
        let isForced = arguments.has("--force")
        if isForced, output == nil { throw .missing("--output", for: "--force", command: command) }
        isHandler = arguments.has("--print") || output != nil
        mayPick = activity == nil && !arguments.has("--latest")
        request = ContinueRequest(
            activity: activity, type: type, from: device, take: isHandler ? true : nil, timeout: timeout)
        receiving = output.map { [request] output in
            ReceiveRequest(
                activity: request, output: output, isForced: isForced,
                timeout: timeout.map { .seconds($0) } ?? ReceiveRequest.usualTimeout)
        }
    }

    package func run(in context: CommandContext) {
        guard mayPick, !context.json, context.keyboard.isTerminal, context.console.statusColumns() != nil else {
            return run(request, in: context)
        }
        context.connect { client in
            client.listActivities(here: !isHandler) { result in
                switch result {
                case .failure(let error): context.fail(CommandFailure(error))
                case .success(let activities): pick(of: activities.filter(request.fits), in: context)
                }
            }
        }
    }

    private func pick(of activities: [ControlActivity], in context: CommandContext) {
        // Of none and of one the daemon says the rest.
        guard activities.count > 1 else { return run(request, in: context) }
        let picker = ActivityPicker(activities, context) { activity in
            guard let activity else { return context.finish(.interrupted) }
            var request = request
            request.activity = activity.id.hex
            // Ids are known to all members: another device may offer one that is not its own.
            request.from = activity.device.hex
            run(request, in: context)
        }
        context.keep(picker)
        picker.start()
    }

    private func run(_ request: ContinueRequest, in context: CommandContext) {
        if var receiving {
            receiving.activity = request
            return receive(receiving, context)
        }
        context.connect { client in
            if context.console.diagnosticsAreTerminal {
                context.after(Self.silence) { ContinueProgress.show(request, context) }
            }
            if let timeout = request.timeout {
                // The daemon gives up by itself, and says why; this is for one that does nothing any more.
                context.after(.seconds(timeout) + Self.grace) {
                    context.fail(CommandFailure(.notReachable(path: context.socketPath, reason: "it does not answer")))
                }
            }
            client.continueActivity(request) { result in
                switch result {
                case .success(.willContinue):
                    break  // The payload is on its way; the last reply decides.
                case .success(.continued(let type, let activity, let opens, _)):
                    show(type, activity, opens, context)
                case .failure(let error):
                    context.fail(CommandFailure(error))
                }
            }
        }
    }

    private func receive(_ receiving: ReceiveRequest, _ context: CommandContext) {
        do {
            let session = try ReceiveSession(receiving, context)
            context.keep(session)
            session.start()
            guard context.console.diagnosticsAreTerminal else { return }
            context.after(Self.silence) { [weak session] in
                if session?.isContinued == false { ContinueProgress.show(request, context) }
            }
        } catch {
            context.fail(error)
        }
    }

    private func show(
        _ type: ActivityType, _ activity: ContinuedActivity?, _ opens: ControlOpens?, _ context: CommandContext
    ) {
        var fields = activity?.json ?? ["type": .string(type.text)]
        if let opens { fields["opens"] = .object(opens.json) }
        switch (isHandler, activity) {
        case (true, nil):
            return context.fail(CommandFailure(.badAnswer("continued without the activity")))
        case (true, let activity?):
            if context.json {
                context.console.line(fields)
            } else {
                context.console.write(ContinuedText.text(activity))
            }
        case (false, _):
            context.show(Describe.event("continued", fields), or: Self.text(type, activity, opens))
        }
        context.finish(.done)
    }

    private static func text(_ type: ActivityType, _ activity: ContinuedActivity?, _ opens: ControlOpens?) -> String {
        let what = Describe.title(activity?.title, type: type)
        let from = activity.map { " from \(VisibleText.escape($0.origin.deviceName))" } ?? ""
        return "continued \(what)\(from)"
            + (opens.map { ": \(Describe.openedPhrase($0, page: activity?.webpageURL))" } ?? "")
    }
}

/// What the user asked `continue --output` to do.
struct ReceiveRequest {
    /// What is continued; this command is the handler.
    var activity: ContinueRequest
    /// Where the content goes: a file, a folder, or `-`.
    let output: String
    /// True if a file is replaced, or created under a name without an extension.
    var isForced = false
    /// How long nothing may move before it is given up.
    let timeout: Duration
    /// The name, in a folder, of content that its sender gives none; nil refuses that.
    var unnamed: String?

    /// How long nothing may move while something is received, in general.
    static let usualTimeout = Duration.seconds(120)
}
