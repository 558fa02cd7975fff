package import HandoffControl
package import LoopIO
import Timing

/// Keeps an app attached to the daemon, also over restarts of the daemon: attaches again, with growing pauses, when
/// the connection ends. Not so at the start: then a daemon that is away is a failure.
///
/// Lives on the loop's thread. Diagram: `docs/state-machines/app-attachment.md`.
package final class AppAttachment {
    /// What the app is told.
    package enum Report {
        /// It is attached; what it published before is gone.
        case attached(Attachment)
        /// Something happened to it.
        case event(AppEvent)
        /// The daemon refused the types that were declared last: those before still count.
        case notDeclared(ClientError)
        /// The daemon went away; said once, and then tried again until it is back.
        case lost
        /// It cannot be attached, and this is not going to change.
        case failed(ClientError)
    }

    private enum State {
        /// The state before `start`, and after the end.
        case idle
        /// The state while the daemon has not yet answered that it takes the app as it said it was; the stream of events is its
        /// connection.
        case attaching(ControlClient, AttachRequest)
        /// The state while attached.
        case attached(events: ControlClient, Attachment)
        /// The state while the daemon is away, until the next attempt.
        case waiting
    }

    private let path: String
    private let loop: EventLoop
    private var app: AttachRequest
    private var state = State.idle
    private var wasAttached = false
    private var backoff = Backoff.daemon
    /// Makes the next attempt; exists from the loss of the daemon until the app is attached again.
    private var daemonWait: DaemonWait?
    private var attachedAt = MonotonicInstant(nanoseconds: 0)
    /// Who listened where it was attached last.
    private var listener: PeerCredentials?
    private var order = EventOrder()
    private var report: (Report) -> Void = { _ in }

    package init(path: String, loop: EventLoop, app: AttachRequest) {
        self.path = path
        self.loop = loop
        self.app = app
    }

    deinit {
        stop()
    }

    /// Attaches.
    /// - Parameter report: gets what happens, until `stop` or a failure.
    package func start(_ report: @escaping (Report) -> Void) {
        self.report = report
        attach()
    }

    /// Ends the attachment, and with it all activities.
    package func stop() {
        switch state {
        case .idle, .waiting: break
        case .attaching(let events, _): events.close()
        case .attached(let events, let session):
            events.close()
            session.calls.close()
        }
        daemonWait = nil
        state = .idle
        report = { _ in }
    }

    /// Declares the types and versions of an app, in the session that is attached and in all later ones.
    package func declare(_ request: AttachRequest) {
        app.types = request.types
        app.versions = request.versions
        guard case .attached(_, let session) = state else { return }
        let declaration = DeclareRequest(session: session.id, types: app.types, versions: app.versions)
        session.calls.declare(declaration) { [weak self] result in
            guard let self, case .attached(_, let current) = state, current.calls === session.calls else { return }
            switch result {
            case .success, .failure(.lost): break
            case .failure(let error): report(.notDeclared(error))
            }
        }
    }

    /// `Publish` in the session that is attached. Events of the activity are reported behind the answer.
    package func publish(
        _ activity: ActivityDescription, _ then: @escaping (Result<ControlClient.PublishedReply, ClientError>) -> Void
    ) {
        guard case .attached(_, let session) = state else { return then(.failure(.lost(path: path))) }
        order.publishes()
        session.calls.publish(session: session.id, activity: activity) { [weak self] result in
            then(result)
            guard let self, case .attached(_, let current) = state, current.calls === session.calls else { return }
            for event in order.isAnswered() { report(.event(event)) }
        }
    }

    /// Publishes an activity as the one that the user is engaged in: `Publish`, and once that is answered well `BecomeCurrent`.
    ///
    /// - Parameters:
    ///   - published: gets the answer of `Publish`; it may end the attachment.
    ///   - current: gets the answer of `BecomeCurrent`, if it was called.
    package func publishAsCurrent(
        _ activity: ActivityDescription,
        _ published: @escaping (Result<ControlClient.PublishedReply, ClientError>) -> Void,
        current: @escaping (Result<Void, ClientError>) -> Void = { _ in }
    ) {
        publish(activity) { [weak self] result in
            published(result)
            guard let self, case .attached(_, let session) = state, case .success(let reply) = result else { return }
            session.calls.becomeCurrent(session: session.id, activity: reply.id, current)
        }
    }

    /// Takes the answer of a call in this attachment.
    /// - Returns: the answer; nil when it failed, which was or will be reported.
    package func accept<Value>(_ result: Result<Value, ClientError>) -> Value? {
        switch result {
        case .success(let value): return value
        case .failure(let error):
            // The daemon has another session by now, or none: the end of the connections says the rest.
            if case .refused(let refusal) = error, refusal.kind != "NoSuchSession" { fail(error) }
            if case .badAnswer = error { fail(error) }
            return nil
        }
    }

    private func attach() {
        do throws(ClientError) {
            let events = try ControlClient(path: path, loop: loop)
            state = .attaching(events, app)
            events.attach(app) { [weak self] result in self?.received(result) }
        } catch {
            if wasAttached { wait() } else { fail(error) }
        }
    }

    private func received(_ result: Result<AppEvent, ClientError>) {
        switch (state, result) {
        case (.attaching(let events, let told), .success(.attached(let session))):
            begin(session, events, told)
        case (.attaching, .success):
            fail(.badAnswer("an event before 'attached'"))
        case (.attached, .success(let event)):
            if let event = order.came(event) { report(.event(event)) }
        case (.attaching, .failure(let error)), (.attached, .failure(let error)):
            if case .lost = error, wasAttached { lose() } else { fail(error) }
        case (.idle, _), (.waiting, _):
            break
        }
    }

    private func begin(_ id: String, _ events: ControlClient, _ told: AttachRequest) {
        let calls: ControlClient
        do throws(ClientError) {
            calls = try ControlClient(path: path, loop: loop)
        } catch {
            if wasAttached { lose() } else { fail(error) }
            return
        }
        calls.onEnd = { [weak self] in self?.lose() }
        let session = Attachment(id: id, calls: calls)
        state = .attached(events: events, session)
        order = EventOrder()
        daemonWait = nil
        wasAttached = true
        attachedAt = loop.now
        // Another daemon is no second try with the one before.
        if events.listener != listener { backoff.reset() }
        listener = events.listener
        if app != told { declare(app) }
        report(.attached(session))
    }

    /// The daemon went away, or ended one of the two connections, which alone are of no use.
    private func lose() {
        switch state {
        case .idle, .waiting: return
        case .attaching(let events, _):
            events.close()
            wait()
        case .attached(let events, let session):
            events.close()
            session.calls.close()
            // A daemon that ends every attachment at once is not asked ten times a second.
            backoff.ended(after: attachedAt.duration(to: loop.now))
            wait()
            report(.lost)
        }
    }

    private func wait() {
        state = .waiting
        let wait = daemonWait ?? DaemonWait(for: path, on: loop) { [weak self] in self?.retry(appeared: $0) }
        daemonWait = wait
        wait.wait(&backoff)
    }

    private func retry(appeared: Bool) {
        guard case .waiting = state else { return }
        if appeared { backoff.reset() }
        attach()
    }

    private func fail(_ error: ClientError) {
        let report = report
        stop()
        report(.failed(error))
    }
}

/// An attachment that was made: its name, and a connection for calls in it.
package struct Attachment {
    /// What the other methods of `dev.handoff1` ask for.
    package let id: String
    /// The connection for calls; the attachment owns it.
    package let calls: ControlClient

    package init(id: String, calls: ControlClient) {
        self.id = id
        self.calls = calls
    }
}
