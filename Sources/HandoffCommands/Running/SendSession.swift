import HandoffClient
import HandoffControl

/// Keeps one or several items on offer until all have ended. Each is its own activity, so that the
/// recipient can accept any of them. All share one attachment. Several items must have the same
/// recipient.
final class SendSession {
    private let context: CommandContext
    private let attachment: AppAttachment
    private var sessions: [PublishSession] = []
    private var left: Int
    /// The most recent failure of an item.
    private var failure: CommandFailure?

    /// - Throws: `CommandFailure` if an item cannot be read; then nothing is offered.
    init(_ requests: [PublishRequest], _ context: CommandContext) throws(CommandFailure) {
        self.context = context
        attachment = AppAttachment(
            path: context.socketPath, loop: context.loop,
            app: AttachRequest(
                app: ProgramVersion.program, version: ProgramVersion.number, team: requests.first?.team))
        left = requests.count
        for request in requests {
            let session = try PublishSession(
                request, context, attachment: attachment, reportsObstacles: sessions.isEmpty
            ) { [weak self] in self?.oneIsOver($0) }
            sessions.append(session)
        }
    }

    /// Offers all items.
    func start() {
        context.onInterrupt { [unowned self] in
            for session in sessions { session.interrupted() }
        }
        for session in sessions { session.prepare() }
        // Weak, and retained for the whole report: a failure ends the command, which releases the
        // session.
        attachment.start { [weak self] report in
            guard let self else { return }
            switch report {
            case .lost: context.noteDaemonStopped()
            case .notDeclared(let error), .failed(let error): context.fail(CommandFailure(error))
            case .attached, .event: break
            }
            for session in sessions { session.received(report) }
        }
    }

    private func oneIsOver(_ failure: CommandFailure?) {
        left -= 1
        if let failure {
            if let former = self.failure { context.note(former.message) }
            self.failure = failure
        }
        guard left == 0 else { return }
        self.failure.map(context.fail) ?? context.finish(.done)
    }
}
