import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTransfer
package import LoopIO

/// `stream`: connects standard input and output to a continuation stream.
package struct StreamCommand: Command {
    package static let specification = CommandSpecification(
        words: ["stream"], operands: [.optional(.offer)],
        summary: "connect standard input and output to another device",
        options: [
            OptionSpecification("--listen", .value(.type), "offer an activity of this type, and use its first stream"),
            OptionSpecification("--title", .value("TEXT"), "with --listen: the title shown on other devices"),
            OptionSpecification("--to", .value(.otherDevice), "with --listen: offer it only to this device"),
            OptionSpecification("--type", .value(.type), "match only activities of this type"),
            OptionSpecification("--from", .value(.otherDevice), "match only this device (name or id prefix)"),
        ],
        details: """
            Intended for scripts. One device offers an activity with --listen. The other device runs the command without
            --listen and continues the activity. It can also continue an activity of an app, if the app offers streams.
            Standard input is sent to the other device. Received bytes are written to standard output unchanged, without
            a name, a size or any checks. Both directions work at the same time, at the speed of the slower side. Each
            direction ends separately, at the end of its standard input. The command exits when both have ended.
            Messages are written to standard error.

            With --listen, the activity is withdrawn when a device connects. Without --listen and without an ID, the
            most recent match that has streams is continued.

            The exit status is 1 if the connection is lost, or if the other command exits before both directions have
            ended. A stream cannot be resumed. It ends if no byte was sent for an hour.

            With --json: published (id, type, title) with --listen, and connected (id, device, deviceName), on standard
            error.
            """,
        example: "handoffctl stream --type com.example.log | tee log.txt")

    private let action: StreamSession.Action

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        let command = Self.specification.name
        var device: String?
        for option in ["--to", "--from"] {
            if let text = arguments.value(option) { device = try ArgumentValue.text(text, option: option) }
        }
        let id = arguments.operands.first
        guard let listened = arguments.value("--listen") else {
            for option in ["--title", "--to"] where arguments.value(option) != nil {
                throw .missing("--listen", for: option, command: command)
            }
            let type = try arguments.value("--type").map { (text) throws(UsageError) in
                try ArgumentValue.activityType(text, command: command).text
            }
            let activity = try id.map { (text) throws(UsageError) in
                try ArgumentValue.identifier(text, digits: ActivityID.byteCount * 2, command: command)
            }
            action = .continue(ContinueRequest(activity: activity, type: type, from: device, take: true))
            return
        }
        for option in ["--type", "--from"] where arguments.value(option) != nil {
            throw .conflict("--listen", option, command: command)
        }
        if id != nil { throw .conflict("an ID", "--listen", command: command) }
        var activity = ActivityDescription(type: try ArgumentValue.activityType(listened, command: command).text)
        activity.title = arguments.value("--title")
        activity.to = device
        activity.supportsContinuationStreams = true
        activity.expirationDate = ActivityDescription.neverExpires
        action = .listen(activity)
    }

    package func run(in context: CommandContext) {
        let session = StreamSession(action, context)
        context.keep(session)
        session.start()
    }
}

/// Opens a stream and relays it. Used only on the loop's thread.
final class StreamSession {
    /// The method of opening the stream.
    enum Action {
        /// Publish an activity, and use its first stream.
        case listen(ActivityDescription)
        /// Continue an activity.
        case `continue`(ContinueRequest)
    }

    private let action: Action
    private let context: CommandContext
    private var attachment: AppAttachment?
    /// The session in which the activity is offered, or nil if no activity is offered.
    private var session: Attachment?
    /// True once a stream was opened, or is being opened.
    private var isConnected = false
    private var relay: StreamRelay?

    init(_ action: Action, _ context: CommandContext) {
        self.action = action
        self.context = context
    }

    func start() {
        context.endWhenInterrupted()
        switch action {
        case .listen(let activity): listen(activity)
        case .continue(let request): choose(request)
        }
    }

    // MARK: - Continuing

    /// Refuses an activity without streams before continuing it, because its origin would count it
    /// as continued.
    private func choose(_ request: ContinueRequest) {
        context.connect { client in
            client.listActivities(here: false) { [unowned self] result in
                switch result {
                case .failure(let error): context.fail(CommandFailure(error))
                case .success(let offers):
                    do throws(CommandFailure) {
                        carryOn(try request.choosingStream(among: offers))
                    } catch {
                        context.fail(error)
                    }
                }
            }
        }
    }

    private func carryOn(_ request: ContinueRequest) {
        context.connect { client in
            client.continueActivity(request) { [unowned self] result in
                switch result {
                case .success(.willContinue): break  // The last reply decides.
                case .success(.continued(_, let activity?, _, let continuation?, _)):
                    guard activity.streams else {
                        return context.fail(.noStreams(device: VisibleText.escape(activity.origin.deviceName)))
                    }
                    open(.continuation(continuation, resource: nil), of: activity.id, activity.origin)
                case .success(.continued):
                    context.fail(CommandFailure(.badAnswer("the continued reply has no activity or no continuation")))
                case .failure(let error): context.fail(CommandFailure(error))
                }
            }
        }
    }

    // MARK: - Listening

    private func listen(_ activity: ActivityDescription) {
        let attachment = AppAttachment(
            path: context.socketPath, loop: context.loop,
            app: AttachRequest(app: ProgramVersion.program, version: ProgramVersion.number))
        self.attachment = attachment
        attachment.start { [weak self] report in
            guard let self else { return }
            switch report {
            case .attached(let session):
                self.session = session
                // Do not offer the activity again after a connection. The stream has ended with the
                // daemon.
                if !isConnected { publish(activity, by: attachment) }
            case .event(.stream(let activity, let stream, let device, _)):
                guard !isConnected else { return }
                open(.stream(stream), of: activity, device)
            case .event: break
            case .lost: if !isConnected { context.noteDaemonStopped() }
            case .notDeclared(let error), .failed(let error): context.fail(CommandFailure(error))
            }
        }
    }

    private func publish(_ activity: ActivityDescription, by attachment: AppAttachment) {
        attachment.publishAsCurrent(activity) { [weak self] result in
            guard let self, let published = attachment.accept(result) else { return }
            let title: JSON = activity.title.map { .string($0) } ?? .null
            report("published", ["id": .string(published.id.hex), "type": .string(activity.type), "title": title])
        }
    }

    // MARK: - The stream

    private func open(_ request: OpenStreamRequest, of activity: ActivityID, _ device: Origin) {
        isConnected = true
        context.connect { client in
            client.openStream(request) { [unowned self] result in
                switch result {
                case .failure(let error): context.fail(CommandFailure(error))
                case .success(let stream):
                    report(
                        "connected",
                        [
                            "id": .string(activity.hex), "device": .string(device.device.hex),
                            "deviceName": .string(device.deviceName),
                        ])
                    relay(stream)
                    withdraw(activity)
                }
            }
        }
    }

    private func relay(_ stream: ContinuationStream) {
        do throws(TransferFailure) {
            relay = try StreamRelay(stream, context) { [unowned self] failure in
                failure.map { context.fail(.transfer($0)) } ?? context.finish(.done)
            }
        } catch {
            context.fail(.transfer(error))
        }
    }

    /// Ends the offer, but not its stream.
    private func withdraw(_ activity: ActivityID) {
        session.map { $0.calls.invalidate(session: $0.id, activity: activity) { _ in } }
    }

    private func report(_ event: String, _ fields: JSONObject) {
        guard context.json else { return }
        context.console.writeDiagnostics(JSONLine.text(Describe.event(event, fields)) + "\n")
    }
}
