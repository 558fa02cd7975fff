/// Keeps several things on offer to one device, until that has taken all of them. Each is an activity of its own, so that its user
/// takes which they want.
final class SendSession {
    private let context: CommandContext
    private var sessions: [PublishSession] = []
    private var left: Int
    /// The last of those that another device has only in part.
    private var failure: CommandFailure?

    /// - Throws: `CommandFailure` when one of them cannot be read: then nothing is offered.
    init(_ requests: [PublishRequest], _ context: CommandContext) throws(CommandFailure) {
        self.context = context
        left = requests.count
        for request in requests {
            sessions.append(try PublishSession(request, context) { [weak self] in self?.oneIsOver($0) })
        }
    }

    /// Offers all of them.
    func start() {
        context.onInterrupt { [unowned self] in
            for session in sessions { session.interrupted() }
        }
        for session in sessions { session.start() }
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
