import HandoffClient
import HandoffControl
import HandoffHandlers
import HandoffJSON
import HandoffModel
import HandoffTransfer
import LoopIO

/// Continues activities as a handler: over restarts of the daemon, and until the user interrupts.
final class HandleSession {
    private let request: HandleRequest
    private let context: CommandContext
    private let attachment: AppAttachment
    private var session: Attachment?
    private var hasToldWaiting = false
    /// The continuation whose file is asked for, and has not begun to come.
    private var unanswered: (session: Attachment, continuation: ContinuationID)?
    /// The activity whose file is received.
    private var received: ContinuedActivity?
    /// Starts the program that opens what arrived. Its thread is older than the confinement of all others.
    private var launcher: Worker?

    init(_ request: HandleRequest, _ context: CommandContext) {
        self.request = request
        self.context = context
        attachment = AppAttachment(
            path: context.socketPath, loop: context.loop,
            app: AttachRequest(
                // The version of an app in whose place this is is not known.
                app: request.app, version: request.app == ProgramVersion.program ? ProgramVersion.number : nil,
                team: request.team, types: request.types))
    }

    /// Attaches, and begins to wait for activities.
    func start() {
        confine()
        context.onInterrupt { [context] in context.finish(.done) }
        attachment.start { [unowned self] report in
            switch report {
            case .attached(let session):
                self.session = session
                tellWaiting()
            case .event(let event): handle(event)
            case .lost:
                session = nil
                context.sayDaemonWentAway()
            case .notDeclared(let error), .failed(let error): context.fail(CommandFailure(error))
            }
        }
    }

    /// Gives up the rights that receiving a file does not need (landlock(7)), before the first byte that another device may
    /// have chosen.
    private func confine() {
        guard context.ownsProcess, request.receives else { return }
        // Without the thread the program is started by this one, which then has to stay able to.
        if request.opener != nil { launcher = try? Worker(name: "launch") }
        // A folder that cannot be made or opened is reported when something is received.
        guard let folder = try? DownloadFolder.make(), let destination = try? Destination(output: folder) else {
            return
        }
        Leftovers.sweep(beside: destination)
        if request.opener == nil || launcher != nil { destination.confine() }
    }

    /// Tells the person at the terminal that this goes on.
    private func tellWaiting() {
        guard !hasToldWaiting, context.console.diagnosticsAreTerminal else { return }
        hasToldWaiting = true
        let types = request.types.map { Describe.type($0) }.joined(separator: ", ")
        context.note("waiting for activities to continue (\(types)); Ctrl-C ends that")
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
            say("willContinue", continuation, "\(type) from \(device)", fields: fields)
        case .continue(let continuation, let content):
            take(content, continuation)
        case .didFail(let continuation, let type, let failure):
            let why = "\(VisibleText.escape(failure.message)) (\(failure.code))"
            let fields: JSONObject = ["type": .string(type.text), "failure": .object(failure.json)]
            say("didFail", continuation, "\(type): \(why)", fields: fields)
        case .attached, .published, .save, .saved, .continued, .declined, .stream, .withdrawn:
            break
        }
    }

    private func take(_ content: ContinuedActivity, _ continuation: ContinuationID) {
        // The answer belongs to the session that asked, also when the daemon is restarted meanwhile.
        guard let session else { return }
        let title = Describe.title(content.title, type: content.type)
        let device = VisibleText.escape(content.origin.deviceName)
        say("continue", continuation, "\(title) from \(device)", fields: content.json)
        if request.once { takeNoMore(in: session) }
        if request.opensOnly { return open(content, continuation, in: session) }
        guard let command = request.command else {
            if !context.json { context.console.write(ContinuedText.text(content)) }
            return answer(session, continuation, handled: true) { [weak self] in self?.endAfterOne() }
        }
        let input = Array((JSONLine.text(content.json) + "\n").utf8)
        do throws(Errno) {
            // Under --json our standard output is for our lines only.
            let output: ShellCommand.Output = context.json ? .standardError : .standardOutput
            let child = try ShellCommand(command, input: input, output: output)
            try child.wait(on: context.loop) { [weak self] status in
                if status != 0 { self?.context.note("the command ended with status \(status)") }
                self?.answer(session, continuation, handled: status == 0) { self?.endAfterOne() }
            }
        } catch {
            context.note(CommandFailure.spawn(why: "\(error)").message)
            answer(session, continuation, handled: false)
        }
    }

    private func endAfterOne() {
        if request.once { context.finish(.done) }
    }

    /// The next one is for a handler that is started for it.
    private func takeNoMore(in session: Attachment) {
        let none = DeclareRequest(session: session.id, types: [])
        session.calls.declare(none) { [weak self] result in
            if case .failure(.refused(let refusal)) = result {
                self?.context.note("may be asked for another activity: \(VisibleText.escape(refusal.message))")
            }
        }
    }

    /// Opens the page or the file of an activity in the place of its app.
    private func open(_ content: ContinuedActivity, _ continuation: ContinuationID, in session: Attachment) {
        let page = content.webpageURL.flatMap { WebPage($0) }
        let opensPage = request.opener?.takesPage == true && page != nil
        guard request.receives && content.streams || opensPage else {
            context.note("the activity has nothing that is opened here")
            return answer(session, continuation, handled: false) { [context] in context.finish(.failed) }
        }
        guard request.receives, content.streams else {
            return answer(session, continuation, handled: true) { [self] in run(page: page?.argument, file: nil) }
        }
        receive(content, continuation, in: session)
    }

    private func receive(_ content: ContinuedActivity, _ continuation: ContinuationID, in session: Attachment) {
        unanswered = (session, continuation)
        received = content
        do throws(CommandFailure) {
            let asked = ContinueRequest(
                activity: content.id.hex, from: content.origin.device.hex, take: true)
            let receiving = ReceiveRequest(
                activity: asked, output: try DownloadFolder.make() + "/", timeout: ReceiveRequest.usualTimeout,
                unnamed: FileName.portable("from \(content.origin.deviceName)".utf8))
            let session = try ReceiveSession(receiving, context, delegate: self)
            context.keep(session)
            session.start(content, continuation)
        } catch {
            receivingFailed(error)
        }
    }

    /// Answers the continuation whose file is being received, unless that was done.
    private func answerReceiving(handled: Bool, then: @escaping () -> Void = {}) {
        guard let (session, continuation) = unanswered else { return then() }
        unanswered = nil
        answer(session, continuation, handled: handled, then: then)
    }

    /// Has the daemon tell the user what became of the file, if they chose it in a notification.
    private func report(_ end: ReceivedEnd, then: @escaping () -> Void) {
        guard let session, let received else { return then() }
        self.received = nil
        session.calls.reportReceived(
            session: session.id, activity: received.id, from: received.origin.device, end
        ) { _ in then() }
    }

    /// Opens what came, if there is something for it, and ends. What was started outlives this program.
    private func run(page: String?, file: String?) {
        guard let opener = request.opener else { return context.finish(.done) }
        let environment = ProcessEnvironment.all
        guard let program = ProgramSearch(path: environment["PATH"]).find(opener.program) else {
            return context.fail(.cannotOpen(with: opener.program, why: "there is no such program"))
        }
        let words = [program] + opener.expanded(page: page, file: file).dropFirst()
        let start: @Sendable () throws -> Void = {
            // The working directory is the one that the desktop entry names (`Path`), or the home directory.
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

    private func answer(
        _ session: Attachment, _ continuation: ContinuationID, handled: Bool, then: @escaping () -> Void = {}
    ) {
        session.calls.answerContinue(
            session: session.id, continuation: continuation, handled: handled
        ) { [weak self] result in
            // An answer that comes too late fails; it concerns no other activity.
            if case .failure(.refused(let refusal)) = result {
                self?.context.note("not accepted: \(VisibleText.escape(refusal.message))")
            }
            then()
        }
    }

    private func say(_ event: String, _ continuation: ContinuationID, _ text: String, fields: JSONObject) {
        if context.json {
            var object: JSONObject = ["continuation": .string(continuation.hex)]
            for field in fields { object[field.key] = field.value }
            context.console.line(Describe.event(event, object))
        } else {
            context.console.line("\(Describe.word(event, width: 12))  \(text)")
        }
    }
}

extension HandleSession: ReceiveSessionDelegate {
    // A file is taken over once it comes: what fails before is told to the user, who has asked for it in another program.
    func receivingBegan() { answerReceiving(handled: true) }

    func received(_ path: String?) {
        // What is opened is seen, and need not be told.
        guard request.opener == nil, let path else { return run(page: nil, file: path) }
        report(.saved(path)) { [self] in run(page: nil, file: path) }
    }

    func receivingFailed(_ failure: CommandFailure) {
        report(.failed(failure.message)) { [self] in
            answerReceiving(handled: false) { [context] in context.fail(failure) }
        }
    }
}
