package import HandoffControl
package import HandoffModel
package import LoopIO

/// Keeps an app attached to the daemon across restarts of the daemon. When the connection ends, it
/// attaches again, with increasing pauses. Used on the loop's thread.
///
/// ```
///          start / connect, Attach        attached / second connection for calls
///   idle ─────────────────────► attaching ─────────────────────► attached
///    ▲                             ▲  │                             │
///    │ stop, or it cannot be       │  │ lost, was                   │ one connection
///    │ attached / failed           │  ▼ attached before             │ ends / lost
///    │                           waiting ◄──────────────────────────┘
///    └──────────────────── every state      until the socket appears; 0.1 s, doubling to 5 s, then
///                                           60 s; back to 0.1 s after an attachment of 5 s
/// ```
///
/// - The first attempt is not repeated: a daemon that is not running, or a lost connection, is then
///   a failure, because the user of a command expects a result. Later they are not failures, since
///   daemons are updated while apps run. A daemon that refuses the app, or sends an event before
///   `attached`, is always a failure.
/// - While it waits, it watches the folder of the socket (`DaemonWait`), and therefore detects a
///   daemon that starts without attempts in between. If the folder cannot be watched, attempts stay
///   5 s apart.
/// - `start` in another state than `idle` is an error of the caller.
/// - Types that are declared before or during an attempt are part of the next `Attach`, or are
///   declared after `attached`. If they are refused, this is reported, and nothing else changes.
/// - Events of a newer daemon that this version does not know are skipped, in every state.
/// - `stop` closes both connections, so the activities end.
/// - Calls and events have separate connections, which may be read in any order. If the app did not
///   run for a moment, an event of an activity can be read before the answer to `Publish` that
///   contains its id. Such events wait (`EventOrder`), each for the calls that were made before it
///   arrived.
package final class AppAttachment {
    /// A report to the app.
    package enum Report {
        /// The app is attached. Its earlier publications no longer exist.
        case attached(Attachment)
        case event(AppEvent)
        /// The daemon refused the types that were declared last. The former ones remain in effect.
        case notDeclared(ClientError)
        /// The daemon has disconnected. Reported once; attempts continue until it is back.
        case lost
        /// The app cannot be attached, and retrying would not help.
        case failed(ClientError)
    }

    private enum State {
        /// Before `start`, and after the end.
        case idle
        /// The daemon has not yet answered the registration. The connection carries the stream of
        /// events.
        case attaching(ControlClient, AttachRequest)
        case attached(events: ControlClient, Attachment)
        /// The daemon is not running; the next attempt is scheduled.
        case waiting
    }

    /// Called with the name of each event that this version does not know, and therefore skips.
    package var onUnknownEvent: ((String) -> Void)?

    private let path: String
    private let loop: EventLoop
    private var app: AttachRequest
    private var state = State.idle
    private var wasAttached = false
    private var backoff = Backoff.daemon
    /// Schedules the next attempt. Exists from the loss of the daemon until the app is attached
    /// again.
    private var daemonWait: DaemonWait?
    private var attachedAt = MonotonicInstant(nanoseconds: 0)
    /// The process that listened at the last attachment.
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

    /// Attaches the app.
    /// - Parameter report: receives reports until `stop` or a failure.
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

    /// Declares the types and versions of the app, in the current session and in all later ones.
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

    /// Calls `Publish` in the current session. Events of the activity are reported after the reply.
    package func publish(
        _ activity: ActivityDescription, _ then: @escaping (Result<ControlClient.PublishedReply, ClientError>) -> Void
    ) {
        guard case .attached(_, let session) = state else { return then(.failure(.lost(path: path))) }
        order.publishSent()
        session.calls.publish(session: session.id, activity: activity) { [weak self] result in
            then(result)
            guard let self, case .attached(_, let current) = state, current.calls === session.calls else { return }
            for event in order.isAnswered() { report(.event(event)) }
        }
    }

    /// Publishes an activity as the one that the user is engaged in: calls `Publish` and, after it
    /// has succeeded, `BecomeCurrent`.
    ///
    /// - Parameters:
    ///   - published: receives the reply to `Publish`. It may end the attachment.
    ///   - prepare: makes calls that precede `BecomeCurrent`, and then calls its parameter.
    ///   - current: receives the reply to `BecomeCurrent`, if it was called.
    package func publishAsCurrent(
        _ activity: ActivityDescription,
        _ published: @escaping (Result<ControlClient.PublishedReply, ClientError>) -> Void,
        prepare: @escaping (Attachment, ActivityID, @escaping () -> Void) -> Void = { $2() },
        current: @escaping (Result<Void, ClientError>) -> Void = { _ in }
    ) {
        publish(activity) { [weak self] result in
            published(result)
            guard let self, case .attached(_, let session) = state, case .success(let reply) = result else { return }
            prepare(session, reply.id) {
                session.calls.becomeCurrent(session: session.id, activity: reply.id, current)
            }
        }
    }

    /// Handles the reply to a call in this attachment.
    /// - Returns: the value; nil if the call failed, which was or will be reported.
    package func accept<Value>(_ result: Result<Value, ClientError>) -> Value? {
        switch result {
        case .success(let value): return value
        case .failure(let error):
            // The daemon has a different session by now, or none: the end of the connections covers
            // that.
            if case .refused(let refusal) = error, refusal.kind != "NoSuchSession" { fail(error) }
            if case .badAnswer = error { fail(error) }
            return nil
        }
    }

    private func attach() {
        do throws(ClientError) {
            let events = try ControlClient(path: path, loop: loop)
            state = .attaching(events, app)
            events.onUnknownEvent = { [weak self] name in self?.onUnknownEvent?(name) }
            events.attach(app) { [weak self] result in self?.received(result) }
        } catch {
            if wasAttached { wait() } else { fail(error) }
        }
    }

    private func received(_ result: Result<AppEvent, ClientError>) {
        switch (state, result) {
        case (.attaching(let events, let declared), .success(.attached(let session))):
            completeAttachment(session, events, declared)
        case (.attaching, .success):
            fail(.badAnswer("an event before 'attached'"))
        case (.attached, .success(let event)):
            if let event = order.receive(event) { report(.event(event)) }
        case (.attaching, .failure(let error)), (.attached, .failure(let error)):
            if case .lost = error, wasAttached { connectionLost() } else { fail(error) }
        case (.idle, _), (.waiting, _):
            break
        }
    }

    private func completeAttachment(_ id: String, _ events: ControlClient, _ declared: AttachRequest) {
        let calls: ControlClient
        do throws(ClientError) {
            calls = try ControlClient(path: path, loop: loop)
        } catch {
            if wasAttached { connectionLost() } else { fail(error) }
            return
        }
        calls.onEnd = { [weak self] in self?.connectionLost() }
        let session = Attachment(id: id, calls: calls)
        state = .attached(events: events, session)
        order = EventOrder()
        daemonWait = nil
        wasAttached = true
        attachedAt = loop.now
        // With a different daemon, the former daemon's delays do not apply.
        if events.listener != listener { backoff.reset() }
        listener = events.listener
        if app != declared { declare(app) }
        report(.attached(session))
    }

    /// Handles the loss of the daemon, or of one of the two connections. A single connection is
    /// useless.
    private func connectionLost() {
        switch state {
        case .idle, .waiting: return
        case .attaching(let events, _):
            events.close()
            wait()
        case .attached(let events, let session):
            events.close()
            session.calls.close()
            // Do not retry ten times a second with a daemon that ends every attachment immediately.
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

/// An established attachment: its session ID, and a connection for calls in it.
package struct Attachment {
    /// The session ID that the other methods of `dev.handoff1` require.
    package let id: String
    /// The connection for calls; the attachment owns it.
    package let calls: ControlClient
}
