import Foundation
import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO

/// The connection of an app to the daemon. It keeps the app attached, makes due calls, and handles
/// events.
///
/// Unchecked: the methods under "From any thread" only forward to the loop. Mutable state is only
/// accessed on the loop's thread.
final class AppConnection: @unchecked Sendable {
    let loop: EventLoop
    weak let application: HandoffApplication?
    private var attachment: AppAttachment?
    private(set) var attached: (request: AttachRequest, path: String)?
    private var session: Attachment?
    /// Counts sessions, to detect replies to an earlier session.
    private var generation = 0
    /// Schedules the next attempt. Exists from a failed attempt until the app is attached.
    private var daemonWait: DaemonWait?
    private var backoff = Backoff.daemon
    private var checkTimer: LoopTimer?
    private var attachedAt: MonotonicInstant?
    private var hasReportedFailure = false
    private var continuations = ContinuationRegistry()
    /// The number of consecutive rounds of file lookups for an activity that keeps naming other
    /// files.
    private var fileRounds: [UUID: Int] = [:]
    /// After this many rounds, unknown files are sent as names without a target.
    private static let maxFileRounds = 3
    /// Open calls that use connections of their own.
    var openings: [ObjectIdentifier: ControlClient] = [:]

    /// Creates a connection without connecting.
    init(loop: EventLoop, application: HandoffApplication) {
        self.loop = loop
        self.application = application
    }

    // MARK: From any thread

    /// Attaches the app. If only its activity types have changed, declares them; if it is another
    /// app, attaches again.
    func attach() { loop.perform { [self] in attachOnLoop() } }

    func detach() { loop.perform { [self] in detachOnLoop() } }

    /// Ends the connection after the application was released.
    func end() {
        loop.perform { [self] in
            detachOnLoop()
            openings = [:]
        }
    }

    /// Calls `body` once on the loop's thread, after a delay.
    func check(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
        loop.perform { [self] in checkTimer = loop.timer(after: delay) { body() } }
    }

    /// Makes the next due call for an activity.
    func sync(_ key: UUID) { loop.perform { [self] in syncOnLoop(key) } }

    // MARK: Attaching

    private func attachOnLoop() {
        guard let application else { return }
        let wanted = application.attachment
        let isSame = attached.map { $0.request == wanted.request && $0.path == wanted.path } ?? false
        guard !isSame || (attachment == nil && daemonWait == nil) else { return }
        startAttachment(wanted)
    }

    private func startAttachment(_ wanted: (request: AttachRequest, path: String)) {
        if let attached, let attachment, attached.path == wanted.path, attached.request.isSameApp(as: wanted.request) {
            self.attached = wanted
            return attachment.declare(wanted.request)
        }
        // Retained, so that it detects a daemon that starts during the attempt.
        let daemonWait = attached?.path == wanted.path ? daemonWait : nil
        detachOnLoop()
        self.daemonWait = daemonWait
        attached = wanted
        let attachment = AppAttachment(path: wanted.path, loop: loop, app: wanted.request)
        self.attachment = attachment
        attachment.onUnknownEvent = { [weak self] name in
            let name = VisibleText.escape(name)
            self?.application?.report(nil, "skipped the unknown event '\(name)' of a newer handoffd")
        }
        attachment.start { [weak self] report in self?.received(report) }
    }

    private func detachOnLoop() {
        daemonWait = nil
        attachment?.stop()
        attachment = nil
        attached = nil
        endSession()
    }

    private func received(_ report: AppAttachment.Report) {
        switch report {
        case .attached(let session):
            self.session = session
            generation += 1
            daemonWait = nil
            attachedAt = loop.now
            hasReportedFailure = false
            application?.report(connected: true, nil)
            application?.step { $0.attached() }
        case .event(let event): handle(event)
        case .notDeclared(let error):
            let problem = HandoffError(error)
            application?.report(nil, problem.message, problem)
        case .lost:
            endSession()
            reportDisconnected(HandoffError(.lost(path: attached?.path ?? "")))
        case .failed(let error):
            endSession()
            reportDisconnected(HandoffError(error))
            // It has already stopped.
            attachment = nil
            scheduleRetry()
        }
    }

    private func endSession() {
        guard session != nil else { return }
        session = nil
        generation += 1
        application?.step {
            $0.detached()
            return []
        }
        deliver(continuations.lost())
    }

    private func reportDisconnected(_ error: HandoffError) {
        guard !hasReportedFailure else { return }
        hasReportedFailure = true
        application?.report(connected: false, error)
    }

    private func scheduleRetry() {
        if let attachedAt { backoff.ended(after: attachedAt.duration(to: loop.now)) }
        attachedAt = nil
        guard let path = attached?.path else { return }
        let wait = daemonWait ?? DaemonWait(for: path, on: loop) { [weak self] in self?.retry(appeared: $0) }
        daemonWait = wait
        wait.wait(&backoff)
    }

    private func retry(appeared: Bool) {
        guard let application else { return }
        if appeared { backoff.reset() }
        startAttachment(application.attachment)
    }

    // MARK: Calls

    private func syncOnLoop(_ key: UUID) {
        guard let application, let call = nextCall(key, application), session != nil else { return }
        let generation = generation
        do throws(ActivityError) {
            try call.check()
        } catch {
            return refused(key, call, HandoffError(error))
        }
        switch call {
        case .publish(let description):
            attachment?.publish(description) { [weak self] result in
                guard let self, generation == self.generation else { return }
                switch result {
                case .success(let published):
                    self.application?.step { $0.published(key, as: published.id) }
                    advise(key, published.advice)
                case .failure(let error): failed(key, call, error)
                }
            }
        case .update(let id, let change):
            request(.update, key, call, id, change)
        case .answerSave(let id, let change):
            request(.answerSave, key, call, id, change)
        case .becomeCurrent(let id): request(.becomeCurrent, key, call, id)
        case .resignCurrent(let id): request(.resignCurrent, key, call, id)
        case .invalidate(let id): request(.invalidate, key, call, id)
        }
    }

    /// Returns the due call for an activity. Returns nil if there is none, or if the files that the
    /// activity names must be looked up first.
    private func nextCall(_ key: UUID, _ application: HandoffApplication) -> ActivityMachine.Call? {
        let rounds = fileRounds[key, default: 0]
        switch application.nextCall(key, checksFiles: session != nil && rounds < Self.maxFileRounds) {
        case .call(let call):
            fileRounds[key] = nil
            return call
        case .files(let urls):
            do throws(Errno) {
                let service = try application.documents()
                fileRounds[key] = rounds + 1
                // The activity stays due until then, so no other lookup starts.
                service.learn(urls) { [weak self, weak application] answers in
                    application?.activity(key)?.updateDocuments(answers)
                    self?.sync(key)
                }
            } catch {
                fileRounds[key] = Self.maxFileRounds
                sync(key)
            }
            return nil
        }
    }

    private func request(
        _ method: AppMethod, _ key: UUID, _ call: ActivityMachine.Call, _ id: ActivityID,
        _ change: ActivityChange? = nil
    ) {
        guard let session else { return }
        let generation = generation
        var parameters: JSONObject = ["session": .string(session.id), "activity": .string(id.hex)]
        if let change { parameters["change"] = .object(change.json) }
        session.calls.call(method.rawValue, parameters) { [weak self] result in
            guard let self, generation == self.generation else { return }
            switch result {
            case .success(let reply):
                application?.step { $0.succeeded(key, call) }
                if change != nil { advise(key, reply.parameters["advice"]?.string) }
            case .failure(let error): failed(key, call, error)
            }
        }
    }

    private func failed(_ key: UUID, _ call: ActivityMachine.Call, _ error: ClientError) {
        var failure = ActivityMachine.CallFailure.lost
        if case .refused(let refusal) = error {
            switch refusal.name {
            case AppErrorName.noSuchSession.rawValue: break
            case AppErrorName.noSuchActivity.rawValue: failure = .unknownActivity
            default: failure = .refused
            }
        }
        if case .badAnswer = error { failure = .refused }
        if failure == .refused { return refused(key, call, HandoffError(error)) }
        application?.step { $0.failed(key, call, failure) }
    }

    private func refused(_ key: UUID, _ call: ActivityMachine.Call, _ problem: HandoffError) {
        application?.report(key, problem.message, problem)
        application?.step { $0.failed(key, call, .refused) }
    }

    private func advise(_ key: UUID, _ advice: String?) {
        guard application?.activity(key)?.isNew(advice) == true, let advice else { return }
        application?.report(key, VisibleText.escape(advice))
    }

    // MARK: Events

    private func handle(_ event: AppEvent) {
        switch event {
        case .save(let id, _):
            guard let activity = application?.activity(of: id) else { return }
            let needsSave = activity.needsSave
            application?.step { $0.saveRequested(activity.key, needsSave: needsSave) }
        case .continued(let id, let origin, let time):
            guard let activity = application?.activity(of: id) else { return }
            let date = time.map { Date(timeIntervalSince1970: $0) } ?? Date()
            application?.callback { $0.run([activity.notify(.wasContinued(deviceName: origin.deviceName, date))]) }
        case .withdrawn(let id):
            let description = application?.activity(of: id)?.snapshot.description
            application?.step { machine in machine.key(of: id).map { machine.withdrawn($0, description) } ?? [] }
        case .willContinue(let id, let type, let origin):
            deliver(continuations.willContinue(id, type, device: origin.deviceName))
        case .continue(let id, let content): deliver(continuations.arrived(id, content))
        case .didFail(let id, _, let failure): deliver(continuations.failed(id, HandoffError(failure)))
        case .stream(let id, let stream, _, nil): received(stream, of: id)
        case .stream(let id, let stream, _, let resource?): received(stream, resource, of: id)
        // An app cannot send an activity to a single device, so none of its activities is declined.
        case .attached, .published, .saved, .declined: break
        }
    }

    private func deliver(_ deliveries: [ContinuationRegistry.Delivery]) {
        for delivery in deliveries {
            switch delivery {
            case .willContinue(let id, let type): application?.announce(id, type.text)
            case .didFail(let id, let type, let error): application?.fail(id, type.text, error)
            case .continue(let id, let content): deliver(id, content)
            }
        }
    }

    private func deliver(_ id: ContinuationID, _ content: ContinuedActivity) {
        guard let path = attached?.path else { return }
        let generation = generation
        do throws(HandoffError) {
            let state = try ActivityState(continued: content)
            let continuation = Continuation(id: id, origin: content.origin, streams: content.streams, path: path)
            resolve(state, continuation) { [self] state in
                application?.deliver(state, continuation) { [self] handled in
                    loop.perform { [self] in answer(id, handled: handled, generation: generation) }
                }
            }
        } catch {
            application?.fail(id, content.type.text, error)
            answer(id, handled: false, generation: generation)
        }
    }

    /// Finds local URLs for the documents that an activity names.
    /// - Parameter then: receives the activity, once, on the loop's thread or before this returns.
    private func resolve(
        _ state: ActivityState, _ continuation: Continuation, _ then: @escaping @Sendable (ActivityState) -> Void
    ) {
        let urls = state.userInfo.documentURLs
        guard !urls.isEmpty, let application, let service = try? application.documents() else { return then(state) }
        let once = LoopBound(Once(state, then), on: loop)
        once.value.timer = loop.timer(after: application.configuration.documentTimeout) { once.value.finish([:]) }
        service.resolve(urls, continuation) { [loop] places in loop.perform { once.value.finish(places) } }
    }

    private func answer(_ id: ContinuationID, handled: Bool, generation: Int) {
        // The reply belongs to the session that sent the request. A refusal means that it is too
        // late, which the daemon has already handled.
        guard let session, generation == self.generation else { return }
        session.calls.answerContinue(session: session.id, continuation: id, handled: handled) { _ in }
    }
}

/// An activity that waits for the local URLs of its documents. The first of two events completes
/// it.
private final class Once {
    private var state: ActivityState
    private var then: ((ActivityState) -> Void)?
    var timer: LoopTimer?

    init(_ state: ActivityState, _ then: @escaping @Sendable (ActivityState) -> Void) {
        self.state = state
        self.then = then
    }

    /// Replaces URLs and completes the activity. Does nothing the second time.
    func finish(_ places: [String: String]) {
        guard let then else { return }
        self.then = nil
        timer = nil
        state.userInfo = state.userInfo.replacingURLs(places)
        then(state)
    }
}

extension ActivityState {
    /// Creates the state of an activity that was sent by another device.
    /// - Throws: an error that names the device, if `userInfo` cannot be read or lacks a required
    ///   key.
    init(continued content: ContinuedActivity) throws(HandoffError) {
        self.init(type: content.type.text)
        do throws(ActivityError) {
            userInfo = try UserInfoMembers(tagged: content.userInfo).withoutPaths
        } catch {
            throw HandoffError(.invalidPayload(device: content.origin.deviceName, cause: "\(error)"))
        }
        let missing = content.requiredUserInfoKeys.filter { userInfo[.string($0)] == nil }
        guard missing.isEmpty else {
            throw HandoffError(.requiredKeysMissing(missing, device: content.origin.deviceName))
        }
        title = content.title
        // Drop a URL that Foundation cannot parse, or that no browser should open.
        webpageURL = content.webpageURL.flatMap { WebURL.isAcceptable($0) ? URL(string: $0) : nil }
        requiredUserInfoKeys = content.requiredUserInfoKeys.isEmpty ? nil : Set(content.requiredUserInfoKeys)
        targetContentIdentifier = content.targetContentIdentifier
        supportsContinuationStreams = content.streams
        needsSave = false
    }
}

extension ActivityMachine.Call {
    /// Performs the daemon's checks on the activity's content. If the content is too large or too
    /// deeply nested, the daemon would end the connection without an error, and with it all
    /// activities of the app.
    fileprivate func check() throws(ActivityError) {
        switch self {
        case .publish(let description):
            try description.content().validate(maxPayload: Limits.payloadMaximum)
        case .update(_, let change), .answerSave(_, let change):
            // Unchanged values have been accepted before.
            let changed = change.applied(to: ActivityContent(type: .browsingWeb))
            try changed.validate(maxPayload: Limits.payloadMaximum)
        case .becomeCurrent, .resignCurrent, .invalidate: break
        }
    }
}
