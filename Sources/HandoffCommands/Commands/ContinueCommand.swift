import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel

/// `continue`: continues an activity that another device offers.
package struct ContinueCommand: Command {
    package static let specification = CommandSpecification(
        words: ["continue"], operands: "[ID]", operandCount: 0...1,
        summary: "continue an activity that another device offers",
        options: [
            OptionSpecification("--latest", .flag, "continue the most recent match without asking"),
            OptionSpecification("--type", .value("TYPE"), "match only activities of this type"),
            OptionSpecification("--from", .value("DEVICE"), "match only this device (name or id prefix)"),
            OptionSpecification(
                "--timeout", .value("SECONDS"), "give up after this time (default: 20, plus 30 to start an app)"),
            OptionSpecification("--print", .flag, "print the activity with its payload instead of opening an app"),
            OptionSpecification(
                "--output", .value("FILE|FOLDER|-"), "like --print, and save the content that the other app streams"),
            OptionSpecification(
                "--force", .flag, "with --output: replace an existing file, or create one without an extension"),
        ],
        details: """
            Opens the activity in its app, starting the app if needed, or in the browser, and prints what was opened.
            handoffctl list shows this in advance. Without an ID, the most recent match is continued. On a terminal, if
            there are several, you choose one with the arrow keys or its number.
            With --output, an interrupted transfer resumes where it stopped, immediately or when the command is run
            again. A file gets its final name only when it is complete and verified. An existing file is replaced only
            with --force. A path that does not exist becomes a file only if it has an extension, or with --force. The
            exit status is 1 if any part of a folder is missing.
            With --output, --timeout is the maximum time without progress (default: 2 minutes).
            ID can be shortened to any unique prefix. Exit status 4 means that no offer matches.
            """,
        example: "handoffctl continue --latest --type com.example.editing --print --json")

    /// Hexadecimal digits of an activity's id.
    private static let idDigits = ActivityID.byteCount * 2
    /// The delay before a progress line is shown for a continuation.
    private static let progressDelay = Duration.milliseconds(300)

    /// Grace period after the user's timeout, to let the daemon report its own error.
    private static let grace = Duration.seconds(5)
    private let request: ContinueRequest
    private let isHandler: Bool
    /// True if the user may be prompted to choose an activity.
    private let mayPick: Bool
    /// The content to receive; nil for none.
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
                timeout: timeout.map { .seconds($0) } ?? ReceiveRequest.defaultTimeout)
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

    private func pick(of activities: [OfferedActivity], in context: CommandContext) {
        // With one match or none, the daemon's reply is enough.
        guard activities.count > 1 else { return run(request, in: context) }
        let picker = ActivityPicker(activities, context) { activity in
            guard let activity else { return context.finish(.interrupted) }
            var request = request
            request.activity = activity.id.hex
            // Activity ids are known to all members, so another device may offer one that is not
            // its own.
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
                context.after(Self.progressDelay) { ContinueProgress.show(request, context) }
            }
            if let timeout = request.timeout {
                // The daemon times out by itself and reports why. This is for a daemon that no
                // longer responds.
                context.after(.seconds(timeout) + Self.grace) {
                    context.fail(CommandFailure(.notReachable(path: context.socketPath, reason: "it does not respond")))
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
            context.after(Self.progressDelay) { [weak session] in
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
            return context.fail(CommandFailure(.badAnswer("the continued reply has no activity")))
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

/// The validated arguments of `continue --output`.
struct ReceiveRequest {
    /// The activity to continue, with this command as the handler.
    var activity: ContinueRequest
    /// The destination of the content: a file, a folder, or `-`.
    let output: String
    /// True to replace a file, or to create one under a name without an extension.
    var isForced = false
    /// The maximum time without progress.
    let timeout: Duration
    /// The name, in a folder, for content without a name; nil to refuse such content.
    var unnamed: String?

    /// The default maximum time without progress while receiving.
    static let defaultTimeout = Duration.seconds(120)
}
