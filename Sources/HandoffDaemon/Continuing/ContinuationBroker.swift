import HandoffControl
import HandoffJSON
import HandoffLog
import HandoffModel
import HandoffProtocol
import LoopIO

/// Drives the continuations of this device: between the caller, the handler and the origin. Lives on the daemon's loop.
final class ContinuationBroker {
    /// What is continued, for whom, and how long it may take.
    struct Request {
        let offer: OfferedActivity
        let device: DeviceID
        let origin: ControlOrigin
        /// The app that takes it over; nil when the caller does.
        let handler: AppSession?
        let timeout: Duration
    }

    /// What the broker needs of the rest of the daemon.
    struct Surroundings {
        /// Asks a device for a payload; the answer comes exactly once, unless cancelled.
        let fetch: (DeviceID, ActivityID, Duration, @escaping (Result<Payload, HandoffFailure>) -> Void) -> FetchHandle
        /// Tells a device that its activity was continued here.
        let tellOrigin: (DeviceID, ActivityID) -> Void
        /// The activity is continued here from now on: streams may be opened by the continuation.
        let began: (ContinuationID, StreamBook.Continued) -> Void
        /// It is not, after all.
        let undone: (ContinuationID) -> Void
        /// A new random id.
        let newID: () -> ContinuationID
    }

    private struct Running {
        let request: Request
        let call: ControlCall
        var machine: ContinuationMachine
        var fetch: FetchHandle?
        var timer: LoopTimer?
        var payload: Payload?
        /// Whether somebody has taken the activity over.
        var wasTaken = false
    }

    private let loop: EventLoop
    private let log: Logger
    private let surroundings: Surroundings
    private var running: [ContinuationID: Running] = [:]

    init(loop: EventLoop, log: Logger, surroundings: Surroundings) {
        self.loop = loop
        self.log = log
        self.surroundings = surroundings
    }

    /// Begins a continuation; `call` is answered when its outcome is known.
    func begin(_ request: Request, call: ControlCall) {
        let id = surroundings.newID()
        var entry = Running(
            request: request, call: call,
            machine: ContinuationMachine(taker: request.handler == nil ? .caller : .handler))
        do {
            entry.timer = try loop.timer(after: request.timeout) { [self] in deadlinePassed(id) }
        } catch {
            call.fail(CallError.control(.limitExceeded, "cannot set a timer: \(error)"))
            return
        }
        running[id] = entry
        call.onClosed = { [self] in step(id) { $0.callerGone(.cancelled(device: request.origin.deviceName)) } }
        log.info("Continuation began", ["type": request.offer.type.text, "device": request.device.short])
        step(id) { $0.begin() }
    }

    /// A handler answered a `continue` event.
    ///
    /// - Returns: whether there was such a continuation that waited for this session's answer.
    func answered(_ id: ContinuationID, by session: SessionID, handled: Bool) -> Bool {
        guard let entry = running[id], let handler = entry.request.handler, handler.id == session,
            entry.payload != nil
        else { return false }
        step(id) { $0.answered(handled: handled, refusal: .handlerRefused(app: handler.app)) }
        return true
    }

    /// An attachment ended: what it was to take over fails.
    func sessionEnded(_ session: AppSession) {
        for (id, entry) in running where entry.request.handler?.id == session.id {
            step(id) { $0.handlerGone(.handlerGone(app: session.app)) }
        }
    }

    /// Takes the members as they are now: what comes from any other device fails.
    func accountChanged(live: Set<DeviceID>) {
        for (id, entry) in running where !live.contains(entry.request.device) {
            step(id) { $0.originRemoved(.notMember(device: entry.request.origin.deviceName)) }
        }
    }

    private func deadlinePassed(_ id: ContinuationID) {
        guard let entry = running[id] else { return }
        // With the payload here it is the app that is late, and not the other device.
        let app = entry.payload == nil ? nil : entry.request.handler?.app
        let failure: HandoffFailure =
            app.map { .handlerTimedOut(app: $0) } ?? .timedOut(device: entry.request.origin.deviceName)
        step(id) { $0.deadlinePassed(failure) }
    }

    private func step(_ id: ContinuationID, _ event: (inout ContinuationMachine) -> [ContinuationMachine.Action]) {
        guard var entry = running[id] else { return }
        let actions = event(&entry.machine)
        running[id] = entry
        for action in actions { perform(action, of: id) }
        if let entry = running[id], entry.machine.hasEnded { finish(id, entry) }
    }

    private func perform(_ action: ContinuationMachine.Action, of id: ContinuationID) {
        guard let entry = running[id] else { return }
        let request = entry.request
        switch action {
        case .tellWillContinue:
            request.handler?.send(.willContinue(id, request.offer.type, request.origin))
            if entry.call.wantsMore {
                entry.call.replyContinuing(ContinueEvent.willContinue(request.offer.type).json)
            }
        case .fetch:
            let handle = surroundings.fetch(request.device, request.offer.id, request.timeout) { [self] result in
                switch result {
                case .success(let payload):
                    guard payload.fits(request.offer) else {
                        let cause = "it is another one than was offered"
                        return step(id) {
                            $0.fetchFailed(.invalidPayload(device: request.origin.deviceName, cause: cause))
                        }
                    }
                    running[id]?.payload = payload
                    step(id) { $0.receivedContent(payload.content) }
                case .failure(let failure):
                    step(id) { $0.fetchFailed(failure) }
                }
            }
            running[id]?.fetch = handle
        case .deliver:
            guard let payload = entry.payload else { return }
            begin(payload, request, id)
            request.handler?.send(.continue(id, continued(payload, request)))
        case .tellDidFail(let failure):
            request.handler?.send(.didFail(id, request.offer.type, failure))
        case .tellOrigin:
            running[id]?.wasTaken = true
            surroundings.tellOrigin(request.device, request.offer.id)
            log.notice("Continued", ["type": request.offer.type.text, "device": request.device.short])
        case .finish:
            guard let payload = entry.payload else { return }
            if request.handler == nil { begin(payload, request, id) }
            entry.call.reply(answer(payload, request, id).json)
        case .fail(let failure):
            log.info(
                "Continuation failed",
                ["code": "\(failure.code)", "reason": failure.reason, "device": request.device.short])
            entry.call.fail(CallError.continuationFailed(failure))
        }
    }

    private func begin(_ payload: Payload, _ request: Request, _ id: ContinuationID) {
        surroundings.began(
            id,
            StreamBook.Continued(
                device: request.device, activity: request.offer.id, session: request.handler?.id,
                hasStreams: payload.content.supportsStreams))
    }

    private func answer(_ payload: Payload, _ request: Request, _ id: ContinuationID) -> ContinueEvent {
        guard let handler = request.handler else {
            return .continued(request.offer.type, continued(payload, request), nil, continuation: id)
        }
        return .continued(
            request.offer.type, continued(payload, request), ControlOpens(kind: .app, name: handler.app),
            continuation: nil)
    }

    private func continued(_ payload: Payload, _ request: Request) -> ContinuedActivity {
        var origin = request.origin
        origin.app = payload.origin.app
        origin.appVersion = payload.origin.appVersion
        return ContinuedActivity(id: request.offer.id, content: payload.content, origin: origin)
    }

    private func finish(_ id: ContinuationID, _ entry: Running) {
        entry.timer?.cancel()
        entry.fetch?.cancel()
        entry.call.onClosed = nil
        running[id] = nil
        if !entry.wasTaken { surroundings.undone(id) }
    }
}

/// A payload as it came from its origin.
struct Payload: Sendable {
    /// The activity with its userInfo.
    let content: ActivityContent
    /// The app that published it, as it calls itself.
    let origin: PayloadOrigin

    /// Whether it is of the type and team by which the user and this device chose who takes it over.
    func fits(_ offer: OfferedActivity) -> Bool {
        guard content.type == offer.type else { return false }
        switch (content.team, offer.team) {
        case (nil, nil): return true
        case (let team?, let offered?): return team.utf8.elementsEqual(offered.utf8)
        default: return false
        }
    }
}

/// A request for a payload that can be given up.
final class FetchHandle {
    /// Whether nobody waits for the answer any more.
    private(set) var isCancelled = false
    /// Armed while the request waits for its next try.
    var timer: LoopTimer?

    /// Gives the request up; its answer, if it still comes, is dropped.
    func cancel() {
        isCancelled = true
        timer = nil
    }
}
