import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTransfer
package import LoopIO

/// `publish`: offers an activity to the other devices while the command runs.
package struct PublishCommand: Command {
    package static let specification = CommandSpecification(
        words: ["publish"], operands: [.one(.offered)],
        summary: "offer an activity, a page or a file to the other devices until interrupted",
        options: [
            OptionSpecification("--title", .value("TEXT"), "the title shown on other devices"),
            OptionSpecification("--user-info", .value(.payload), "the payload: a JSON object"),
            OptionSpecification(
                "--stream", .value(.content), "content for devices that continue it; - is standard input, once"),
            OptionSpecification(
                "--web-url", .value("URL"), "a page with the same content, for devices without the app"),
            OptionSpecification("--team", .value("ID"), "allow only apps of this team to continue it"),
            OptionSpecification("--required", .values("KEY"), "a userInfo key that must be present to continue it"),
            OptionSpecification("--to", .value(.otherDevice), "offer it only to this device (name or id prefix)"),
        ],
        details: """
            An http or https URL is offered as a page (NSUserActivityTypeBrowsingWeb). An existing file or folder is
            offered with its content, as dev.handoff1.content, for handoffctl continue --output, and so is standard
            input (-). Anything else is an activity type, such as com.example.editing, for the apps that continue that
            type. The activity becomes the current one. If no device receives the offer, for example while Handoff is
            paused, a message on standard error states the reason. Ctrl-C withdraws the activity, and the exit status
            is 0.

            In the payload, values that JSON does not have are tagged, such as {"$date": 0} or {"$data": "AAE="}
            (docs/control-protocol.md, Numbers and text). The file of --user-info @FILE is re-read when another device
            continues the activity, so that its current content is sent. A pipe is read once. For a payload above 3
            KiB, a message on standard error advises against it. A payload above the daemon's limit (64 KiB unless
            configured otherwise) is offered with a warning: continuing it fails with code 4611. A payload above 960
            KiB is refused with InvalidActivity, code 4611.

            A file URL in the payload ({"$url": "file:///…"}) is sent as the URL of the document (handoffctl document).
            Other devices find it in a shared folder or a checkout, or fetch it while the command runs. Local paths are
            not sent.

            The files and folders of --stream are opened again for each device that fetches them, and several devices
            can fetch at the same time. Standard input can be fetched once. Links, devices and pipes in a folder are
            omitted. A file that was changed while it was sent is refused by the receiving device. If the daemon stops
            before a transfer has started, the other device requests it again. An interrupted file transfer resumes at
            the same position. On a terminal the last line shows the progress.

            When the daemon is back after it stopped, the activity is published again with a new id, and another
            published is printed. If the daemon is offline at the start, the exit status is 3.

            With --json:

              published  id, type, title: it is offered
              saved      id: the daemon requested and received the state
              continued  id, type, title, device, deviceName, deviceKind: a device continued it
              declined   id, type, title, device, deviceName, deviceKind: the user of the device that it was sent to
                         declined it
              stream     id, stream, state (started, then finished or failed), device, deviceName, deviceKind; started
                         has name, size, from; finished has bytes (of a folder those of its files), and missing if
                         entries of a folder were omitted; failed has reason, message: a device fetches the content of
                         --stream or a document
              progress   id, stream, device, sent, total: about once a second, the bytes of the files sent so far, and of
                         all files (null if a folder is sent)
            """,
        example: "handoffctl publish com.example.editing --title Draft --user-info '{\"page\": 3}'")

    private let request: PublishRequest

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        let command = Self.specification.name
        let subject = try PublishSubject(
            arguments.operands.first ?? "", mayBeActivity: true, command: command)
        var userInfo: UserInfoSource?
        if let text = arguments.value("--user-info") { userInfo = try UserInfoSource(text) }
        let webURL = arguments.value("--web-url") ?? subject.page
        if let webURL, let problem = WebURL.problem(of: webURL) {
            throw .notAPage(webURL, of: "--web-url", why: problem, command: command)
        }
        let team = arguments.value("--team")
        if let team { _ = try ArgumentValue.text(team, option: "--team") }
        var stream = subject.content
        if let text = arguments.value("--stream") { stream = try ArgumentValue.text(text, option: "--stream") }
        var recipient: String?
        if let text = arguments.value("--to") { recipient = try ArgumentValue.text(text, option: "--to") }
        request = PublishRequest(
            type: subject.type, title: arguments.value("--title") ?? subject.title, userInfo: userInfo,
            webpageURL: webURL, team: team,
            requiredKeys: arguments.all("--required"), stream: stream.map { .path($0) },
            recipient: recipient, endsWhenAccepted: false)
    }

    package func run(in context: CommandContext) { request.run(in: context) }
}

/// The validated arguments of `publish`.
struct PublishRequest {
    let type: ActivityType
    let title: String?
    let userInfo: UserInfoSource?
    let webpageURL: String?
    let team: String?
    let requiredKeys: [String]
    /// The content streamed to devices that continue the activity, if any.
    let stream: PublishedContent?
    /// The only device that the activity is offered to; nil for all.
    let recipient: String?
    /// True to end once a device has accepted the activity and received all of its content.
    let endsWhenAccepted: Bool
    /// The item that waits for its device; nil for an activity that ends with the command.
    var waiting: WaitingItem?
    /// The content that the payload names as document 0; nil if the documents are files.
    var document: PublishedContent?
    /// When the activity expires and the command ends, in seconds since 2001-01-01 UTC; nil for an
    /// activity that lasts as long as the command.
    var expirationDate: Double?

    /// Returns the activity as sent to the daemon. It requests saves, so that its current state is
    /// sent when it is continued.
    func description(userInfo: JSONObject?) -> ActivityDescription {
        var description = ActivityDescription(type: type.text)
        description.title = title
        description.userInfo = userInfo
        description.webpageURL = webpageURL
        description.team = team
        description.to = recipient
        if !requiredKeys.isEmpty { description.requiredUserInfoKeys = requiredKeys }
        if let text = stream?.payloadText {
            description.userInfo = ["text": .string(text)]
        } else if stream != nil {
            description.supportsContinuationStreams = true
        }
        if document != nil { description.supportsContinuationStreams = true }
        description.needsSave = true
        description.expirationDate = expirationDate ?? ActivityDescription.neverExpires
        return description
    }

    /// Offers the activity while the command runs.
    func run(in context: CommandContext) {
        do throws(CommandFailure) {
            let session = try SendSession([self], context)
            context.keep(session)
            session.start()
        } catch {
            context.fail(error)
        }
    }
}

/// Keeps one activity on offer, across restarts of the daemon, until the user interrupts. Its
/// attachment may offer other activities as well.
final class PublishSession {
    /// The time limit for the daemon to confirm the withdrawal on interrupt. After that, closing
    /// the connection withdraws the activity as well.
    private static let withdrawalTimeout = Duration.seconds(1)

    /// The number of characters of a title that are kept before a suffix is added.
    private static let maxShown = 60

    private let request: PublishRequest
    private let context: CommandContext
    private let attachment: AppAttachment
    /// The streamed content and documents, if there can be any.
    private let streams: PublishedStreams?
    /// The last successfully read payload, sent if the file cannot be read later.
    private var userInfo: UserInfoReading?
    private var documents = PublishedDocuments()
    /// The session in which the activity is offered, and its id there; nil while the daemon is not
    /// running.
    private var offer: (session: Attachment, activity: ActivityID)?
    /// True to print why no device is offered the activity.
    private let reportsObstacles: Bool
    /// Called once when the offer has ended, with a failure if the other device lacks something.
    private let onEnd: (CommandFailure?) -> Void
    private var wasOffered = false
    private var isEnding = false
    private var isOver = false
    /// The reason if the offer ended without being accepted.
    private var refusal: CommandFailure?
    private var lastAdvice: String?
    private var hasReportedReach = false

    /// - Parameters:
    ///   - attachment: the attachment, whose reports the caller forwards to `received`.
    ///   - reportsObstacles: true to print why no device is offered the activity.
    ///   - onEnd: called once when the offer has ended, with a failure if the other device lacks
    ///     something.
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
        let mayStream = request.stream.map { $0.payloadText == nil } ?? (userInfo != nil)
        streams = mayStream ? try PublishedStreams(request.stream, request.waiting?.contentID, context) : nil
    }

    /// Must be called once, before the first report.
    func prepare() {
        if !request.type.text.contains("."), request.type != .browsingWeb {
            context.note(
                "advice: '\(VisibleText.escape(request.type.text))' is used as an activity type. Types are usually "
                    + "named like a reversed domain, such as com.example.editing")
        }
        streams?.onEvent = { [unowned self] event, activity, text, fields in
            show(event, activity, text, fields: fields)
            if request.endsWhenAccepted, fields["state"] == "finished" { end() }
            // The content cannot be sent to a later attempt either.
            if request.waiting != nil, let failure = streams?.sourceFailure {
                refusal = .transfer(failure)
                end()
            }
        }
        streams?.document = { [unowned self] number in
            if number == 0, let document = request.document { return document }
            return documents.path(number).map { .path($0) }
        }
    }

    /// Handles a report of the attachment. The caller handles its failures.
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
        var description = request.description(userInfo: userInfo.map { documents.outgoing($0.object, context) })
        if documents.areOffered { description.supportsContinuationStreams = true }
        if let title = request.title, streams?.hasRepository == true {
            // The recipient decides by the title whether to accept, so the end of the title must be
            // visible.
            let shown = title.count > Self.maxShown ? title.prefix(Self.maxShown) + "…" : title
            description.title = "\(shown) (contains a repository)"
        }
        attachment.publishAsCurrent(description) { [weak self] result in
            guard let self else { return }
            if case .failure(.refused(let reason)) = result, reason.kind == "InvalidActivity" {
                // For example, the device is no longer in the account.
                refusal = CommandFailure(.refused(reason))
                return finish()
            }
            guard let published = attachment.accept(result) else { return }
            offer = (session, published.id)
            wasOffered = true
            advise(published.advice)
            show("published", published.id, fields: ["type": .string(request.type.text), "title": title])
        } current: { [weak self] result in
            guard let self, attachment.accept(result) != nil else { return }
            reportReach(session)
        }
    }

    /// Prints once which devices are offered the activity, or why none is. Does nothing if the
    /// status is not available.
    private func reportReach(_ session: Attachment) {
        guard !hasReportedReach else { return }
        hasReportedReach = true
        session.calls.getStatus { [weak self] result in
            guard let self, case .success(let status) = result else { return }
            if let obstacle = Obstacle.first(.advertise, status, to: request.recipient) {
                if reportsObstacles {
                    context.note("not offered to any device: \(obstacle.message)", remedy: obstacle.remedy)
                }
            } else if let recipient = request.recipient {
                reportRecipient(recipient, session)
            } else if context.console.diagnosticsAreTerminal {
                reportAudience(status)
            }
        }
    }

    /// Reports whether the only recipient is online; otherwise nothing would show that the offer is
    /// waiting.
    private func reportRecipient(_ recipient: String, _ session: Attachment) {
        session.calls.listDevices { [weak self] result in
            guard let self, let devices = try? result.get() else { return }
            // The daemon has accepted the recipient, but names may have changed since.
            guard let device = try? DeviceChoice.find(recipient, in: devices) else { return }
            let title = Describe.title(request.title, type: request.type)
            let name = DeviceText(devices).label(device.id)
            if device.online {
                guard context.console.diagnosticsAreTerminal else { return }
                return context.note("\(title) is offered to \(name); press Ctrl-C to stop")
            }
            guard reportsObstacles else { return }
            context.note(
                "waiting: \(name) is \(DeviceText.absence(device)) and will receive the offer when it is online. "
                    + "Press Ctrl-C to stop")
        }
    }

    /// Reports on a terminal what is offered, and to which devices.
    private func reportAudience(_ status: ControlStatus) {
        let title = Describe.title(request.title, type: request.type)
        let names = Audience.names(status)
        let audience = names.count == 1 ? names[0] : "\(names.count) devices"
        context.note("\(title) is offered to \(audience); press Ctrl-C to stop")
    }

    private func handle(_ event: AppEvent) {
        guard let offer else { return }
        switch event {
        case .save(offer.activity):
            save(offer.session, offer.activity)
        case .saved(offer.activity):
            show("saved", offer.activity)
        case .continued(offer.activity, let device):
            let text = "by \(DeviceText.label(device.deviceName, device.device))"
            let fields: JSONObject = [
                "type": .string(request.type.text), "title": title, "device": .string(device.device.hex),
                "deviceName": .string(device.deviceName), "deviceKind": .string(device.deviceKind.name),
            ]
            show("continued", offer.activity, text, fields: fields)
            // Streamed content is accepted once its last byte has arrived.
            if request.endsWhenAccepted, streams == nil { end() }
        case .declined(offer.activity, let device):
            let fields: JSONObject = [
                "type": .string(request.type.text), "title": title, "device": .string(device.device.hex),
                "deviceName": .string(device.deviceName), "deviceKind": .string(device.deviceKind.name),
            ]
            let name = DeviceText.label(device.deviceName, device.device)
            show("declined", offer.activity, "by \(name)", fields: fields)
            if request.endsWhenAccepted {
                refusal = .declined(Describe.title(request.title, type: request.type), by: name)
                end()
            }
        case .stream(offer.activity, let stream, let device, let resource):
            streams?.serve(stream, resource, of: offer.activity, to: device)
        case .withdrawn(offer.activity):
            guard !isEnding else { return }
            if request.expirationDate == nil { refusal = .withdrawn() }
            finish()
        case .attached, .published, .save, .saved, .willContinue, .continue, .didFail, .continued, .declined, .stream,
            .withdrawn:
            break
        }
    }

    private func save(_ session: Attachment, _ activity: ActivityID) {
        var change = ActivityChange()
        if userInfo?.mayChange == true {
            refresh()
            change.userInfo = userInfo.map { documents.outgoing($0.object, context) }
            if documents.areOffered { change.supportsContinuationStreams = true }
            // Request another save before the next device gets it, with the file's content at that
            // time.
            change.needsSave = true
        }
        session.calls.answerSave(session: session.id, activity: activity, change: change) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let advice):
                advise(advice)
            case .failure(.refused(let refusal)):
                // Too late, or the file grew beyond the limit: the last saved state is sent.
                context.note("not saved: \(VisibleText.escape(refusal.message))")
            case .failure:
                break  // The attachment reports a lost connection itself.
            }
        }
    }

    /// Reads the file again. If that fails, keeps its last content.
    private func refresh() {
        guard let source = request.userInfo, userInfo?.mayChange == true else { return }
        do throws(CommandFailure) {
            userInfo = try source.read()
            documents.invalidate()
        } catch {
            context.note("\(error.message); its last content is used")
        }
    }

    /// Withdraws the activity on the first interrupt. A second one does not wait for the reply.
    func interrupted() {
        streams?.stop()
        end()
    }

    /// Withdraws the activity and ends the offer.
    private func end() {
        guard !isEnding, let offer else { return finish() }
        isEnding = true
        context.after(Self.withdrawalTimeout) { [weak self] in self?.finish() }
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

    private func show(_ event: String, _ activity: ActivityID, _ text: String = "", fields: JSONObject = [:]) {
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

    /// Prints the daemon's advice for developers, once.
    private func advise(_ advice: String?) {
        guard let advice, advice != lastAdvice else { return }
        lastAdvice = advice
        context.note("advice: \(VisibleText.escape(advice))")
    }
}
