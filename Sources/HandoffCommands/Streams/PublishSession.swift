import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTransfer
import LoopIO

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
        streams = mayStream ? try PublishedStreams(request.stream, request.waiting?.kind, context) : nil
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
            // A later attempt would fail too.
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
        } prepare: { [weak self] session, activity, then in
            guard let self, request.isStreamKept, let stream = request.stream, let file = stream.keptFile else {
                return then()
            }
            keep(file.name, stream, of: file.size, session, activity, then)
        } current: { [weak self] result in
            guard let self, attachment.accept(result) != nil else { return }
            reportReach(session)
        }
    }

    /// Passes the file that the copies contain. If the daemon refuses it, the item waits for both devices.
    private func keep(
        _ name: String, _ stream: PublishedContent, of size: Int, _ session: Attachment, _ activity: ActivityID,
        _ then: @escaping () -> Void
    ) {
        var content: [UInt8]?
        func pass(from offset: Int) {
            let data = content.map { Array($0[offset..<min(offset + KeepContentRequest.maxData, size)]) } ?? []
            let part = KeepContentRequest(
                session: session.id, activity: activity, name: name, size: size, offset: offset, data: data)
            session.calls.keepContent(part) { [weak self] result in
                guard let self else { return }
                switch result {
                case .success where offset + data.count == size: then()
                case .success:
                    // The first call has no data: the size is accepted before the file is read.
                    content = content ?? stream.read(size)
                    guard content != nil else {
                        return notKept("its size changes", session, activity, then)
                    }
                    pass(from: offset + data.count)
                case .failure(.refused(let refusal)): notKept(refusal.message, session, activity, then)
                // The attachment reports a lost connection itself.
                case .failure: break
                }
            }
        }
        pass(from: 0)
    }

    private func notKept(
        _ reason: String, _ session: Attachment, _ activity: ActivityID, _ then: @escaping () -> Void
    ) {
        let text = "\(Describe.title(request.title, type: request.type)) is not kept: \(VisibleText.escape(reason))"
        context.note("\(text). It waits until both devices are awake")
        show("notKept", activity, fields: ["message": .string(text)])
        var change = ActivityChange()
        change.keep = false
        session.calls.update(session: session.id, activity: activity, change: change) { _ in then() }
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
        case .save(offer.activity, _):
            save(offer.session, offer.activity)
        case .saved(offer.activity):
            show("saved", offer.activity)
        case .continued(offer.activity, let device, let time):
            let text =
                "by \(DeviceText.label(device.deviceName, device.device))"
                + (time.map { " at \(Describe.time($0))" } ?? "")
            var fields: JSONObject = [
                "type": .string(request.type.text), "title": title, "device": .string(device.device.hex),
                "deviceName": .string(device.deviceName), "deviceKind": .string(device.deviceKind.name),
            ]
            fields["at"] = time.map { .real($0) }
            show("continued", offer.activity, text, fields: fields)
            // Streamed content is accepted once its last byte has arrived.
            if request.endsWhenAccepted, streams == nil || time != nil { end() }
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
        // The end of the attachment ends the offer, and the copies stay.
        if request.keep == true, request.recipient == nil { return finish() }
        if request.waiting != nil {
            // A crash while the daemon replies would send an item twice that was accepted.
            offer.session.calls.invalidate(session: offer.session.id, activity: offer.activity) { _ in }
            return finish()
        }
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
