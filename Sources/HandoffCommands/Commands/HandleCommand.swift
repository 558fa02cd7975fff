import HandoffClient
import HandoffControl
import HandoffHandlers
import HandoffJSON
import HandoffModel
import HandoffTransfer
package import LoopIO

/// `handle`: continues activities of the given types here, as an app would.
package struct HandleCommand: Command {
    package static let specification = CommandSpecification(
        words: ["handle"], operands: [.several(.type, 1...64)],
        summary: "continue activities of these types here until interrupted",
        options: [
            OptionSpecification("--team", .value("ID"), "only activities of this team"),
            OptionSpecification("--exec", .value(.program), "run this command with /bin/sh -c for each activity"),
            OptionSpecification(
                "--app", .value("ID"), "act on behalf of this app, which does not support Handoff itself"),
            OptionSpecification("--once", .flag, "exit after one activity"),
            OptionSpecification("--downloads", .flag, "save received files in the downloads folder"),
            OptionSpecification(
                "--open-with", .value(.program), "open the received page or file with this command (with %u or %f)"),
        ],
        details: """
            Continues activities as an app would, and prints each event. If the daemon stops, handling resumes when it
            is back.

            COMMAND receives the activity on its standard input, as one line of the JSON that 'continue --print --json'
            prints. Its arguments and environment contain nothing of it: quote nothing, trust nothing, read it with a
            JSON parser. Exit status 0 means that COMMAND accepted the activity. Any other status makes the
            continuation fail. Without --exec, every activity is accepted and printed. The output of COMMAND is written
            to standard output, with --json to standard error. Without --team, only activities without a team match.

            With --downloads, only an activity with a file is accepted; with --open-with, one with a page or file that
            COMMAND can open. Others are refused. The command exits after one activity. The downloads folder is that of
            the desktop (XDG_DOWNLOAD_DIR of user-dirs.dirs, otherwise ~/Downloads). If the user chose the file in a
            notification, a notification shows that it was saved, with 'Open' and 'Show in Folder', or why it was not.
            The COMMAND of --open-with is an Exec line as in a desktop entry, run without a shell: '%u' is replaced by
            the URL of a page, '%f' by the path of a received file. The daemon itself starts 'handle --downloads' for
            offered files (the manifest dev.handoff1.files, 'Downloads'), and 'handle --open-with' for apps without
            Handoff support (docs/control-protocol.md, Apps).

            With --json:

              willContinue  continuation, type, device, deviceName, deviceKind, origin: the user chose an activity, and
                            its payload is being fetched
              continue      continuation, userInfo, origin, and the other fields of the activity: it has arrived
              didFail       continuation, type, failure (code, reason, message): it will not arrive
            """,
        example: "handoffctl handle com.example.editing --exec 'jq -r .title >> titles.txt'")

    private let request: HandleRequest

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        let command = Self.specification.name
        var types: [ActivityType] = []
        for operand in arguments.operands {
            types.append(try ArgumentValue.activityType(operand, command: command))
        }
        let team = arguments.value("--team")
        if let team { _ = try ArgumentValue.text(team, option: "--team") }
        let shellCommand = arguments.value("--exec")
        if let shellCommand { _ = try ArgumentValue.text(shellCommand, option: "--exec") }
        let app = arguments.value("--app")
        if let app, AppID(app) == nil {
            throw .badValue(app, of: "--app", expected: "the id of an app", command: command)
        }
        var opener: ExecLine?
        if let text = arguments.value("--open-with") {
            opener = ExecLine(text)
            guard let opener, opener.takesPage || opener.takesFile, !opener.hasQuotedCode else {
                throw .badValue(
                    text, of: "--open-with", expected: "a command with %u or %f, not inside quotes", command: command)
            }
        }
        let receives = arguments.has("--downloads") || opener?.takesFile == true
        if shellCommand != nil, receives || opener != nil {
            throw .conflict("--exec", opener == nil ? "--downloads" : "--open-with", command: command)
        }
        request = HandleRequest(
            types: types, team: team, command: shellCommand, app: app ?? ProgramVersion.program,
            once: arguments.has("--once") || receives || opener != nil, receives: receives, opener: opener)
    }

    package func run(in context: CommandContext) {
        let session = HandleSession(request, context)
        context.keep(session)
        session.start()
    }
}

/// The validated arguments of `handle`.
struct HandleRequest: Equatable {
    /// The types to continue.
    let types: [ActivityType]
    let team: String?
    /// The command that `/bin/sh -c` runs for each activity; nil to only print it.
    let command: String?
    /// The app id to attach as.
    let app: String
    /// True to exit after one activity.
    let once: Bool
    /// True to receive files into the downloads folder.
    let receives: Bool
    /// The command that opens a page or a received file, if any.
    let opener: ExecLine?

    /// True if only pages and files are accepted.
    var opensOnly: Bool { receives || opener != nil }
}

/// Continues activities as a handler, across restarts of the daemon, until interrupted.
final class HandleSession {
    private let request: HandleRequest
    private let context: CommandContext
    private let attachment: AppAttachment
    private var session: Attachment?
    private var hasReportedWaiting = false
    /// The continuation whose file was requested but has not started to arrive.
    private var unanswered: (session: Attachment, continuation: ContinuationID)?
    /// The activity whose file is being received.
    private var received: ContinuedActivity?
    private var progress: ProgressReports?
    /// Starts the program that opens received content. Its thread was created before the other
    /// threads were confined.
    private var launcher: Worker?

    init(_ request: HandleRequest, _ context: CommandContext) {
        self.request = request
        self.context = context
        attachment = AppAttachment(
            path: context.socketPath, loop: context.loop,
            app: AttachRequest(
                // The version of an app that this command stands in for is not known.
                app: request.app, version: request.app == ProgramVersion.program ? ProgramVersion.number : nil,
                team: request.team, types: request.types))
    }

    /// Attaches and starts to wait for activities.
    func start() {
        confine()
        context.onInterrupt { [context] in context.finish(.done) }
        attachment.start { [unowned self] report in
            switch report {
            case .attached(let session):
                self.session = session
                reportWaiting()
            case .event(let event): handle(event)
            case .lost:
                session = nil
                context.noteDaemonStopped()
            case .notDeclared(let error), .failed(let error): context.fail(CommandFailure(error))
            }
        }
    }

    /// Drops the rights that receiving a file does not need (landlock(7)), before the first byte
    /// that another device may have chosen.
    private func confine() {
        guard context.ownsProcess, request.receives else { return }
        // Without the launcher thread, this thread starts the program and must stay able to.
        if request.opener != nil { launcher = try? Worker(name: "launch") }
        // A folder that cannot be created or opened is reported when something is received.
        guard let folder = try? DownloadFolder.make(), let destination = try? Destination(output: folder) else {
            return
        }
        Leftovers.sweep(beside: destination)
        if request.opener == nil || launcher != nil { destination.confine() }
    }

    /// Reports on a terminal that the command is waiting.
    private func reportWaiting() {
        guard !hasReportedWaiting, context.console.diagnosticsAreTerminal else { return }
        hasReportedWaiting = true
        let types = request.types.map { Describe.type($0) }.joined(separator: ", ")
        context.note("waiting for activities to continue (\(types)); press Ctrl-C to stop")
    }

    private func handle(_ event: AppEvent) {
        switch event {
        case .willContinue(let continuation, let type, let origin):
            var fields = origin.json
            fields["origin"] = .object(origin.json)
            fields["app"] = nil
            fields["appVersion"] = nil
            fields["type"] = .string(type.text)
            let device = VisibleText.escape(origin.deviceName)
            show("willContinue", continuation, "\(type) from \(device)", fields: fields)
        case .continue(let continuation, let content):
            take(content, continuation)
        case .didFail(let continuation, let type, let failure):
            let why = "\(VisibleText.escape(failure.message)) (\(failure.code))"
            let fields: JSONObject = ["type": .string(type.text), "failure": .object(failure.json)]
            show("didFail", continuation, "\(type): \(why)", fields: fields)
        case .attached, .published, .save, .saved, .continued, .declined, .stream, .withdrawn:
            break
        }
    }

    private func take(_ content: ContinuedActivity, _ continuation: ContinuationID) {
        // Reply in the session that sent the event, even if the daemon is restarted meanwhile.
        guard let session else { return }
        let title = Describe.title(content.title, type: content.type)
        let device = VisibleText.escape(content.origin.deviceName)
        show("continue", continuation, "\(title) from \(device)", fields: content.json)
        if request.once { takeNoMore(in: session) }
        if request.opensOnly { return open(content, continuation, in: session) }
        guard let command = request.command else {
            if !context.json { context.console.write(ContinuedText.text(content)) }
            return answer(session, continuation) { [weak self] in self?.endAfterOne() }
        }
        let input = Array((JSONLine.text(content.json) + "\n").utf8)
        do throws(Errno) {
            // With --json, our standard output is only for our lines.
            let output: ShellCommand.Output = context.json ? .standardError : .standardOutput
            let child = try ShellCommand(command, input: input, output: output)
            try child.wait(on: context.loop) { [weak self] status in
                let failure = status == 0 ? nil : "the command exited with status \(status)"
                if let failure { self?.context.note(failure) }
                self?.answer(session, continuation, failure: failure) { self?.endAfterOne() }
            }
        } catch {
            let failure = CommandFailure.spawn(why: "\(error)").message
            context.note(failure)
            answer(session, continuation, failure: failure)
        }
    }

    private func endAfterOne() {
        if request.once { context.finish(.done) }
    }

    /// Declares no types, so that the next activity goes to a newly started handler.
    private func takeNoMore(in session: Attachment) {
        let none = DeclareRequest(session: session.id, types: [])
        session.calls.declare(none) { [weak self] result in
            if case .failure(.refused(let refusal)) = result {
                self?.context.note("another activity may still arrive: \(VisibleText.escape(refusal.message))")
            }
        }
    }

    /// Opens the page or the file of an activity on behalf of its app.
    private func open(_ content: ContinuedActivity, _ continuation: ContinuationID, in session: Attachment) {
        let page = content.webpageURL.flatMap { WebPage($0) }
        let opensPage = request.opener?.takesPage == true && page != nil
        let hasContent = content.streams || KeptItem(content) != nil
        guard request.receives && hasContent || opensPage else {
            let failure = "the activity has nothing to open here"
            context.note(failure)
            return answer(session, continuation, failure: failure) { [context] in context.finish(.failed) }
        }
        guard request.receives, hasContent else {
            return answer(session, continuation) { [self] in run(page: page?.argument, file: nil) }
        }
        receive(content, continuation, in: session)
    }

    private func receive(_ content: ContinuedActivity, _ continuation: ContinuationID, in session: Attachment) {
        unanswered = (session, continuation)
        received = content
        do throws(CommandFailure) {
            let wanted = ContinueRequest(
                activity: content.id.hex, from: content.origin.device.hex, take: true)
            let receiving = ReceiveRequest(
                activity: wanted, output: try DownloadFolder.make() + "/", timeout: ReceiveRequest.defaultTimeout,
                unnamed: FileName.portable("from \(content.origin.deviceName)".utf8))
            let receiver = try ReceiveSession(receiving, context, handler: self)
            context.keep(receiver)
            let progress = ProgressReports(content, receiver, context) { [weak self] in self?.session }
            self.progress = progress
            progress.start { [weak self] result in
                switch result {
                case .success(let limit): receiver.start(content, continuation, limit: limit)
                case .failure(let error): self?.receivingFailed(CommandFailure(error))
                }
            }
        } catch {
            receivingFailed(error)
        }
    }

    /// Answers the continuation whose file is being received, unless already answered.
    private func answerReceiving(failure: String? = nil, then: @escaping () -> Void = {}) {
        guard let (session, continuation) = unanswered else { return then() }
        unanswered = nil
        answer(session, continuation, failure: failure, then: then)
    }

    /// Reports the result to the daemon, which notifies the user if they chose the file in a
    /// notification.
    private func report(_ end: ReceivedEnd, then: @escaping () -> Void) {
        guard let session, let received else { return then() }
        self.received = nil
        progress = nil
        session.calls.reportReceived(
            session: session.id, activity: received.id, from: received.origin.device, end
        ) { _ in then() }
    }

    /// Opens the received content, if there is an opener, and ends. The started program outlives
    /// this one.
    private func run(page: String?, file: String?) {
        guard let opener = request.opener else { return context.finish(.done) }
        let environment = ProcessEnvironment.all
        guard let program = ProgramSearch(path: environment["PATH"]).find(opener.program) else {
            return context.fail(.cannotOpen(with: opener.program, why: "program not found"))
        }
        let words = [program] + opener.expanded(page: page, file: file).dropFirst()
        let start: @Sendable () throws -> Void = {
            // The working directory is that of the desktop entry (`Path`), or the home directory.
            _ = try DetachedProgram.start(words, environment: environment, folder: ".")
        }
        guard let launcher else { return started(opener, Result(catching: start)) }
        launcher.run(start, on: context.loop) { [weak self] in self?.started(opener, $0) }
    }

    private func started(_ opener: ExecLine, _ result: Result<Void, any Error>) {
        switch result {
        case .success: context.finish(.done)
        case .failure(let error): context.fail(.cannotOpen(with: opener.program, why: "\(error)"))
        }
    }

    /// Reports that the activity was handled, or why not.
    private func answer(
        _ session: Attachment, _ continuation: ContinuationID, failure: String? = nil,
        then: @escaping () -> Void = {}
    ) {
        session.calls.answerContinue(
            session: session.id, continuation: continuation, handled: failure == nil, failure: failure
        ) { [weak self] result in
            // A late reply fails, which affects no other activity.
            if case .failure(.refused(let refusal)) = result {
                self?.context.note("reply not accepted: \(VisibleText.escape(refusal.message))")
            }
            then()
        }
    }

    private func show(_ event: String, _ continuation: ContinuationID, _ text: String, fields: JSONObject) {
        if context.json {
            var object: JSONObject = ["continuation": .string(continuation.hex)]
            for field in fields { object[field.key] = field.value }
            context.console.line(Describe.event(event, object))
        } else {
            context.console.line("\(Describe.word(event, width: 12))  \(text)")
        }
    }
}

extension HandleSession: ReceiveHandler {
    var acceptsIncomplete: Bool { false }

    /// A file is accepted once it starts to arrive. Earlier failures are reported to the user, who
    /// requested it in another program.
    func receivingBegan() { answerReceiving() }

    func received(_ path: String?) {
        // Opened content is visible and needs no report.
        guard request.opener == nil, let path else {
            guard let progress else { return run(page: nil, file: path) }
            return progress.finish { [self] in run(page: nil, file: path) }
        }
        report(.saved(path)) { [self] in run(page: nil, file: path) }
    }

    func receivingFailed(_ failure: CommandFailure) {
        report(.failed(failure.message)) { [self] in
            answerReceiving(failure: failure.message) { [context] in context.fail(failure) }
        }
    }
}
