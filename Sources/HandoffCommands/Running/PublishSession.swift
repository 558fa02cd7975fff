import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTransfer

/// Keeps one activity on offer: over restarts of the daemon, and until the user interrupts. Its attachment may have other activities
/// on offer as well.
final class PublishSession {
    /// How long an interrupted command waits for the daemon to confirm the withdrawal; after that the end of the
    /// connection withdraws the activity just as well.
    private static let withdrawalPatience = Duration.seconds(1)

    /// Characters of a title that are kept before what is added to it.
    private static let maxShown = 60

    private let request: PublishRequest
    private let context: CommandContext
    private let attachment: AppAttachment
    /// What is streamed; nil for nothing.
    private let streams: PublishedStreams?
    /// What the file said last; what travels when it cannot be read at the moment.
    private var userInfo: UserInfoReading?
    /// The session in which the activity is on offer, and its id there; nil while the daemon is away.
    private var offer: (session: Attachment, activity: ActivityID)?
    /// True if it prints why no device is offered the activity.
    private let reportsObstacles: Bool
    /// Called once when the offer is over, with what another device lacks.
    private let onEnd: (CommandFailure?) -> Void
    private var wasOffered = false
    private var isEnding = false
    private var isOver = false
    /// Set once the user of the other device does not want it.
    private var refusal: CommandFailure?
    private var lastAdvice: String?
    private var hasReportedReach = false

    /// - Parameters:
    ///   - attachment: whose reports the caller passes on to `received`.
    ///   - reportsObstacles: whether it prints why no device is offered the activity.
    ///   - onEnd: called once when the offer is over, with what another device lacks.
    /// - Throws: `CommandFailure` when the payload cannot be read or is malformed.
    init(
        _ request: PublishRequest, _ context: CommandContext, attachment: AppAttachment, reportsObstacles: Bool,
        onEnd: @escaping (CommandFailure?) -> Void
    ) throws(CommandFailure) {
        self.request = request
        self.context = context
        self.attachment = attachment
        self.reportsObstacles = reportsObstacles
        self.onEnd = onEnd
        userInfo = try request.userInfo?.read()
        if let userInfo, UserInfo.hasFileURL(.object(userInfo.object)) {
            context.note(
                "userInfo has the URL of a file, of which another device gets the name alone; "
                    + "send the file itself with --stream")
        }
        if let source = request.stream { streams = try PublishedStreams(source, context) } else { streams = nil }
    }

    /// To be called once, before the first report.
    func prepare() {
        if !request.type.text.contains("."), request.type != .browsingWeb {
            context.note(
                "advice: '\(VisibleText.escape(request.type.text))' is taken for the type of an activity, which apps name like a "
                    + "domain turned round: com.example.editing")
        }
        streams?.onEvent = { [unowned self] activity, text, fields in
            say("stream", activity, text, fields: fields)
            if request.endsWhenTaken, fields["state"] == "finished" { end() }
        }
    }

    /// Handles a report of the attachment, whose failures are the caller's.
    func received(_ report: AppAttachment.Report) {
        guard !isOver else { return }
        switch report {
        case .attached(let session): publish(in: session)
        case .event(let event): handle(event)
        case .lost: offer = nil
        case .notDeclared, .failed: break
        }
    }

    private func publish(in session: Attachment) {
        if wasOffered { refresh() }
        var description = request.description(userInfo: userInfo?.object)
        if let title = request.title, streams?.hasRepository == true {
            // Its user decides by the title whether to accept it, so the end of the title has to be seen.
            let shown = title.count > Self.maxShown ? title.prefix(Self.maxShown) + "…" : title
            description.title = "\(shown) (contains a repository)"
        }
        attachment.publishAsCurrent(description) { [weak self] result in
            guard let self, let published = attachment.accept(result) else { return }
            offer = (session, published.id)
            wasOffered = true
            advise(published.advice)
            say("published", published.id, fields: ["type": .string(request.type.text), "title": title])
        } current: { [weak self] result in
            guard let self, attachment.accept(result) != nil else { return }
            reportReach(session)
        }
    }

    /// Prints once which devices are offered the activity, or why none is. A daemon without that method has more to do.
    private func reportReach(_ session: Attachment) {
        guard !hasReportedReach else { return }
        hasReportedReach = true
        session.calls.getStatus { [weak self] result in
            guard let self, case .success(let status) = result else { return }
            if let obstacle = Obstacle.first(.advertise, status, to: request.recipient) {
                if reportsObstacles {
                    context.note("offered to nobody: \(obstacle.message)", remedy: obstacle.remedy)
                }
            } else if let recipient = request.recipient {
                reportRecipient(recipient, session)
            } else if context.console.diagnosticsAreTerminal {
                reportAudience(status)
            }
        }
    }

    /// Reports whether the one device that the activity is sent to is online; else nothing would show that it waits.
    private func reportRecipient(_ recipient: String, _ session: Attachment) {
        session.calls.listDevices { [weak self] result in
            guard let self, let devices = try? result.get() else { return }
            // The daemon has accepted the recipient, but names may have changed since.
            guard let device = try? DeviceChoice.find(recipient, in: devices) else { return }
            let title = Describe.title(request.title, type: request.type)
            let name = DeviceText(devices).label(device.id)
            if device.online {
                guard context.console.diagnosticsAreTerminal else { return }
                return context.note("\(title) is offered to \(name); Ctrl-C ends that")
            }
            guard reportsObstacles else { return }
            context.note(
                "waiting: \(name) is \(DeviceText.absence(device)); it is offered what is sent once it is online. "
                    + "Ctrl-C ends that")
        }
    }

    /// Reports at a terminal what is on offer, and to which devices.
    private func reportAudience(_ status: ControlStatus) {
        let title = Describe.title(request.title, type: request.type)
        let names = Audience.names(status)
        let audience = names.count == 1 ? names[0] : "\(names.count) devices"
        context.note("\(title) is offered to \(audience); Ctrl-C ends that")
    }

    private func handle(_ event: AppEvent) {
        guard let offer else { return }
        switch event {
        case .save(offer.activity):
            save(offer.session, offer.activity)
        case .saved(offer.activity):
            say("saved", offer.activity)
        case .continued(offer.activity, let device):
            let text = "by \(DeviceText.label(device.deviceName, device.device))"
            let fields: JSONObject = [
                "type": .string(request.type.text), "title": title, "device": .string(device.device.hex),
                "deviceName": .string(device.deviceName), "deviceKind": .string(device.deviceKind.name),
            ]
            say("continued", offer.activity, text, fields: fields)
            // What is streamed is taken once the last byte has arrived.
            if request.endsWhenTaken, streams == nil { end() }
        case .declined(offer.activity, let device):
            let fields: JSONObject = [
                "type": .string(request.type.text), "title": title, "device": .string(device.device.hex),
                "deviceName": .string(device.deviceName), "deviceKind": .string(device.deviceKind.name),
            ]
            let name = DeviceText.label(device.deviceName, device.device)
            say("declined", offer.activity, "by \(name)", fields: fields)
            if request.endsWhenTaken {
                refusal = .declined(Describe.title(request.title, type: request.type), by: name)
                end()
            }
        case .stream(offer.activity, let stream, let device, let resource):
            streams?.serve(stream, resource, of: offer.activity, to: device)
        case .withdrawn(offer.activity):
            if !isEnding { context.fail(.withdrawn()) }
        case .attached, .published, .save, .saved, .willContinue, .continue, .didFail, .continued, .declined, .stream,
            .withdrawn:
            break
        }
    }

    private func save(_ session: Attachment, _ activity: ActivityID) {
        var change = ActivityChange()
        if userInfo?.mayChange == true {
            refresh()
            change.userInfo = userInfo?.object
            // Asked again before the next device gets it, whatever the file says by then.
            change.needsSave = true
        }
        session.calls.answerSave(session: session.id, activity: activity, change: change) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let advice):
                advise(advice)
            case .failure(.refused(let refusal)):
                // Too late, or the file grew beyond the limit: the last saved state travels.
                context.note("not saved: \(VisibleText.escape(refusal.message))")
            case .failure:
                break  // The attachment reports a lost connection itself.
            }
        }
    }

    /// Reads the file again; one that cannot be used at the moment keeps what it said last.
    private func refresh() {
        guard let source = request.userInfo, userInfo?.mayChange == true else { return }
        do throws(CommandFailure) {
            userInfo = try source.read()
        } catch {
            context.note("\(error.message); what it said last is used")
        }
    }

    /// The first interrupt withdraws; a second one does not wait for the answer.
    func interrupted() {
        streams?.stop()
        end()
    }

    /// Withdraws the activity, and ends the command.
    private func end() {
        guard !isEnding, let offer else { return finish() }
        isEnding = true
        context.after(Self.withdrawalPatience) { [weak self] in self?.finish() }
        offer.session.calls.invalidate(session: offer.session.id, activity: offer.activity) { [weak self] _ in
            self?.finish()
        }
    }

    private func finish() {
        guard !isOver else { return }
        isOver = true
        onEnd(refusal ?? streams.flatMap { $0.omissions.isEmpty ? nil : CommandFailure.incomplete($0.omissions) })
    }

    private var title: JSON { request.title.map { .string($0) } ?? JSON.null }

    private func say(_ event: String, _ activity: ActivityID, _ text: String = "", fields: JSONObject = [:]) {
        streams?.makeRoom()
        if context.json {
            var object: JSONObject = ["id": .string(activity.hex)]
            for field in fields { object[field.key] = field.value }
            context.console.line(Describe.event(event, object))
        } else {
            let line = "\(Describe.word(event, width: 9))  \(activity.short)"
            context.console.line(text.isEmpty ? line : "\(line)  \(text)")
        }
    }

    /// Says once what a developer should know.
    private func advise(_ advice: String?) {
        guard let advice, advice != lastAdvice else { return }
        lastAdvice = advice
        context.note("advice: \(VisibleText.escape(advice))")
    }
}
