import HandoffClient
import HandoffControl
import HandoffModel
package import LoopIO

/// `send`: offers pages or files to one device until it has accepted them.
package struct SendCommand: Command {
    package static let specification = CommandSpecification(
        words: ["send"], operands: [.one(.otherDevice), .several(.item, 0...32)],
        summary: "send pages, files, folders or text to one of your devices",
        options: [
            OptionSpecification("--text", .value("TEXT"), "send this text as the file Text.txt"),
            OptionSpecification("--title", .value("TEXT"), "the title shown on the device, if one item is sent"),
        ],
        details: """
            Sends up to 32 items to a device, given by its name or an id prefix. Only that device is notified: it shows
            a notification ('desk sent you report.pdf') and lists the items in its list. Nothing is transferred until
            its user accepts an item. A page then opens in the browser. A file is saved in the downloads folder, or in
            FOLDER with 'handoffctl continue --output FOLDER'. Several items share one notification, in their order.
            Each is a separate activity, which handoffctl continue can continue individually. If the device is offline
            or asleep, a message on standard error reports this, and the items are offered once it is online, for as
            long as the command runs.

            Exits with status 0 when all items were accepted and all streamed content was received, or with 1 and the
            error Declined if the user there chose 'Decline'. If that user cancels a transfer, the item stays on offer and
            can be resumed there. Ctrl-C withdraws the rest.

            The beginning of a text is used as its title. Other users of this machine can read arguments: send a secret
            from standard input with '-', which shows no title.

            With --json: the events of handoffctl publish.
            """,
        example: "handoffctl send laptop ./report.pdf")

    /// The maximum number of characters of a text that are used as its title.
    private static let maxTitle = 60

    private let requests: [PublishRequest]

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        let command = Self.specification.name
        let device = try ArgumentValue.text(arguments.operands.first ?? "", option: "DEVICE")
        let title = arguments.value("--title")
        let texts = arguments.operands.dropFirst()
        let message = arguments.value("--text")
        let count = texts.count + (message == nil ? 0 : 1)
        if count == 0 { throw .missingOperand(Self.specification) }
        if title != nil, count > 1 { throw .conflict("--title", "several items", command: command) }
        if texts.count(where: { $0 == "-" }) > 1 { throw .conflict("-", "another -", command: command) }
        var requests: [PublishRequest] = []
        if let message {
            let text = try ArgumentValue.text(message, option: "--text")
            requests.append(
                PublishRequest(
                    type: .content, title: title ?? Self.beginning(of: text), userInfo: nil, webpageURL: nil, team: nil,
                    requiredKeys: [], stream: .text(text), recipient: device, endsWhenAccepted: true))
        }
        for text in texts {
            let subject = try PublishSubject(
                try ArgumentValue.text(text, option: "item to send"), mayBeActivity: false, command: command)
            requests.append(
                PublishRequest(
                    type: subject.type, title: title ?? subject.title, userInfo: nil, webpageURL: subject.page,
                    team: nil,
                    requiredKeys: [], stream: subject.content.map { .path($0) }, recipient: device,
                    endsWhenAccepted: true))
        }
        self.requests = requests
    }

    /// Returns the first non-blank line of a text, truncated to the length of a title.
    private static func beginning(of text: String) -> String? {
        let lines = text.split(whereSeparator: \.isNewline).lazy.map { CommandContext.trimmed(String($0)) }
        guard let line = lines.first(where: { !$0.isEmpty }) else { return nil }
        return line.count > maxTitle ? line.prefix(maxTitle) + "…" : line
    }

    package func run(in context: CommandContext) {
        do throws(CommandFailure) {
            let session = try SendSession(requests, context)
            context.keep(session)
            session.start()
        } catch {
            context.fail(error)
        }
    }
}

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
