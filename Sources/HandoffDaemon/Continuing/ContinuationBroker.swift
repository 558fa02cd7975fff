import HandoffControl
import HandoffCrypto
import HandoffHandlers
import HandoffJSON
import HandoffModel
import HandoffPeers
import HandoffProtocol
import LoopIO

/// Drives the continuations on this device between the caller, the handler and the origin. Lives on
/// the daemon's loop.
final class ContinuationBroker {
    /// The offer to continue, its recipient, and the time allowed.
    struct Request {
        let offer: Offer
        let origin: Origin
        let recipient: Recipient
        /// The timeout of the whole continuation; nil for the default, which is extended by the
        /// launch time if an app is started.
        let timeout: Duration?
        /// For the app or browser that is started.
        let token: ActivationToken?
        /// True if the user chose this app, so that no other may receive the activity.
        var isChosen = false
        /// True to continue it although a newer state is known.
        var mayBeOlder = false
        /// The copy to continue; nil if the device sends the activity itself.
        var kept: KeptOffers.KeptOffer?

        var activity: ActivitySummary { offer.activity }
        var device: DeviceID { offer.device }
    }

    /// The recipient of the activity.
    enum Recipient {
        /// The caller.
        case caller
        /// An attached app.
        case app(AppSession)
        /// An app that is started first.
        case launch(Handler)
        /// The choice depends on the activity's page.
        case page
        /// The browser, with the activity's page.
        case browser
    }

    private final class Running {
        let request: Request
        let caller: any ContinuationCaller
        var machine: ContinuationMachine
        /// The app that continues the activity, once it is attached.
        var handler: AppSession?
        /// The app that was started for it.
        var started: Handler?
        /// Whether the app was chosen because it claims the page's site. Then it receives only the
        /// page.
        var isForPage = false
        var fetch: FetchHandle?
        /// The copy that is continued; nil if the origin sends the activity itself.
        var kept: KeptOffers.KeptOffer?
        var timer: LoopTimer?
        var launchTimer: LoopTimer?
        var payload: Payload?
        /// Whether the activity has been continued.
        var wasTaken = false

        init(_ request: Request, _ recipient: ContinuationMachine.Recipient, for caller: any ContinuationCaller) {
            self.request = request
            self.caller = caller
            kept = request.kept
            machine = ContinuationMachine(recipient: recipient)
        }

        /// The type that the handler receives.
        var type: ActivityType { isForPage ? .browsingWeb : request.activity.type }
    }

    /// The timeout of a continuation if the caller gives none.
    private static let usualTimeout = Duration.seconds(20)
    /// The time that an app may take from its start until it attaches. Cold disks and large apps
    /// need it.
    private static let launchTime = Duration.seconds(30)

    private let loop: EventLoop
    private let log: Logger
    private let peers: Peers
    private let apps: AppService
    private let installed: DesktopApps
    private let streams: StreamService
    private let notifications: NotificationService
    private let history: History
    private let keptOffers: KeptOffers
    private let keptReceipts: KeptReceipts
    private let lineages: Lineages
    private var running: [ContinuationID: Running] = [:]
    /// The id of the next continuation, generated in advance to shorten the start. Nil while a
    /// continuation starts, so that no id is used twice.
    private var nextID: ContinuationID?

    init(
        loop: EventLoop, log: Logger, peers: Peers, apps: AppService, installed: DesktopApps,
        streams: StreamService, notifications: NotificationService, history: History, keptOffers: KeptOffers,
        keptReceipts: KeptReceipts, lineages: Lineages
    ) {
        self.loop = loop
        self.log = log
        self.peers = peers
        self.apps = apps
        self.installed = installed
        self.streams = streams
        self.notifications = notifications
        self.history = history
        self.keptOffers = keptOffers
        self.keptReceipts = keptReceipts
        self.lineages = lineages
    }

    /// Starts a continuation. The caller receives its outcome.
    func begin(_ request: Request, for caller: any ContinuationCaller) {
        let entry: Running
        switch request.recipient {
        case .caller: entry = Running(request, .caller, for: caller)
        case .app(let session):
            entry = Running(request, .handler, for: caller)
            entry.handler = session
        case .launch(let handler):
            entry = Running(request, .started, for: caller)
            entry.started = handler
        case .page, .browser: entry = Running(request, .page, for: caller)
        }
        if let newer = newerState(than: request.activity.ownLineage, request) {
            // No app is notified or started. In a later turn, like each other outcome.
            return loop.later { [self] in fail(entry, .newerElsewhere(newer)) }
        }
        let id = nextID ?? Self.newID()
        nextID = nil
        entry.timer = loop.timer(after: request.timeout ?? Self.usualTimeout) { [self] in deadlinePassed(id) }
        running[id] = entry
        caller.onClosed = { [self] in step(id) { $0.callerGone(.cancelled(device: request.origin.deviceName)) } }
        log.info("Continuation started", ["type": request.activity.type.text, "device": request.device.short])
        // The request is sent first because its reply takes longest.
        step(id) { $0.begin() }
        caller.willContinue(request.activity.type)
        nextID = nextID ?? Self.newID()
    }

    private static func newID() -> ContinuationID {
        ContinuationID(checked: Randomness.bytes(ContinuationID.byteCount))
    }

    /// Selects the opener of an activity whose page is known.
    private func decide(_ content: ActivityContent) -> HandlerDecision {
        installed.registry.decide(
            content.type, team: content.team, page: content.webpageURL.map { .at($0) } ?? .none,
            running: apps.registry.running)
    }

    /// The user-visible name of an app.
    private func name(_ session: AppSession) -> String { installed.registry.name(of: session.app) }

    /// Handles the answer of a handler to a `continue` event.
    ///
    /// - Parameter failure: why the activity was not handled, if the app has reported it.
    /// - Returns: whether a continuation waited for this session's answer.
    func answered(_ id: ContinuationID, by session: SessionID, handled: Bool, failure: String?) -> Bool {
        guard let entry = running[id], let handler = entry.handler, handler.id == session,
            entry.payload != nil
        else { return false }
        step(id) { $0.answered(handled: handled, refusal: .handlerRefused(app: name(handler), cause: failure)) }
        return true
    }

    /// Handles an app that has attached or changed its declared types. It receives the activities
    /// that it was started for, and those that another app was started for and that it continues
    /// too.
    func sessionContinues(_ session: AppSession) {
        for (id, entry) in running where entry.machine.awaitsApp && fits(session, entry) {
            running[id]?.handler = session
            if let payload = entry.payload, let failure = running[id].flatMap({ mismatch(payload, $0) }) {
                step(id) { $0.launchFailed(failure) }
                continue
            }
            running[id]?.launchTimer?.cancel()
            running[id]?.launchTimer = nil
            step(id) { $0.attached() }
        }
    }

    /// Handles the end of an attachment: the continuations that it handles fail.
    func sessionEnded(_ session: AppSession) {
        for (id, entry) in running where entry.handler?.id == session.id {
            step(id) { $0.handlerGone(.handlerGone(app: name(session))) }
        }
    }

    /// Applies the current members. Continuations from other devices fail.
    func accountChanged(live: Set<DeviceID>) {
        for (id, entry) in running where !live.contains(entry.request.device) {
            step(id) { $0.originRemoved(.notMember(device: entry.request.origin.deviceName)) }
        }
    }

    private func fits(_ session: AppSession, _ entry: Running) -> Bool {
        let isStarted = entry.started.map { $0.id.text.utf8.elementsEqual(session.app.utf8) } ?? false
        if entry.isForPage { return isStarted }
        guard isStarted || !entry.request.isChosen else { return false }
        return session.continues(entry.request.activity.type, team: entry.request.activity.team)
    }

    private func deadlinePassed(_ id: ContinuationID) {
        guard let entry = running[id] else { return }
        let failure: HandoffFailure
        if entry.payload == nil {
            failure = .timedOut(device: entry.request.origin.deviceName)
        } else if entry.machine.awaitsApp {
            failure = .appNotAttached(app: entry.started?.name ?? "")
        } else if entry.machine.isOpening {
            failure = .pageNotOpened(
                entry.payload?.content.webpageURL, cause: "the browser was not started in time")
        } else if let handler = entry.handler {
            // The payload has arrived, so the app is late and not the other device.
            failure = .handlerTimedOut(app: name(handler))
        } else {
            failure = .timedOut(device: entry.request.origin.deviceName)
        }
        step(id) { $0.deadlinePassed(failure) }
    }

    private func step(_ id: ContinuationID, _ event: (inout ContinuationMachine) -> [ContinuationMachine.Action]) {
        guard let entry = running[id] else { return }
        for action in event(&entry.machine) { perform(action, of: id) }
        if running[id] != nil, entry.machine.hasEnded { finish(id, entry) }
    }

    private func perform(_ action: ContinuationMachine.Action, of id: ContinuationID) {
        guard let entry = running[id] else { return }
        let request = entry.request
        switch action {
        case .sendWillContinue:
            entry.handler?.send(.willContinue(id, entry.type, request.origin))
        case .fetch: fetch(id, request)
        case .launch: launch(id, entry)
        case .choose(let content): choose(content, for: id)
        case .deliver:
            guard let payload = entry.payload else { return }
            begin(payload, entry, id)
            entry.handler?.send(.continue(id, continued(payload, entry, isForPage: entry.isForPage)))
        case .openPage(let content): openPage(content, of: id)
        case .sendDidFail(let failure):
            entry.handler?.send(.didFail(id, entry.type, failure))
        case .notifyOrigin:
            running[id]?.wasTaken = true
            notifications.continued(request.activity.id, from: request.device)
            if let kept = entry.kept {
                keptReceipts.continued(kept.kept)
            } else {
                peers.notifyOrigin(request.device, PeerMethod.wasContinued, request.activity.id)
            }
            log.notice("Continued", ["type": request.activity.type.text, "device": request.device.short])
        case .finish:
            guard let payload = entry.payload else { return }
            if entry.machine.recipient == .caller { begin(payload, entry, id) }
            note(entry, "continued")
            reply(payload, entry, id)
        case .fail(let failure): fail(entry, failure)
        }
    }

    private func fail(_ entry: Running, _ failure: HandoffFailure) {
        log.info(
            "Continuation failed",
            ["code": "\(failure.code)", "reason": failure.reason, "device": entry.request.device.short])
        note(entry, failure.reason)
        entry.caller.failed(CallError.continuationFailed(failure))
    }

    private func note(_ entry: Running, _ outcome: String) {
        let request = entry.request
        history.note(
            ControlLogEntry(
                event: .continuation, direction: .in, type: request.activity.type.text, device: request.device,
                deviceName: request.origin.deviceName, app: entry.handler?.app ?? entry.started?.id.text,
                outcome: outcome))
    }

    private func fetch(_ id: ContinuationID, _ request: Request) {
        // In a later turn, like each other outcome.
        if let kept = request.kept { return loop.later { [self] in receive(kept, for: id, request) } }
        let timeout = request.timeout ?? Self.usualTimeout
        let range = running[id].flatMap(versions)
        let handle = peers.fetch(request.activity.id, from: request.device, versions: range, timeout: timeout) {
            [self] result in received(result, for: id, request)
        }
        running[id]?.fetch = handle
    }

    private func received(_ result: Result<Payload, HandoffFailure>, for id: ContinuationID, _ request: Request) {
        switch result {
        case .success(let payload):
            guard payload.fits(request.activity) else {
                let cause = "it does not match the offer"
                return step(id) {
                    $0.fetchFailed(.invalidPayload(device: request.origin.deviceName, cause: cause))
                }
            }
            // The list of another device may have arrived since the start.
            if let newer = newerState(than: payload.content.lineage ?? request.activity.ownLineage, request) {
                return step(id) { $0.fetchFailed(.newerElsewhere(newer)) }
            }
            // The origin may not support versions, or the app has changed its declaration.
            if let failure = running[id].flatMap({ mismatch(payload, $0) }) {
                return step(id) { $0.fetchFailed(failure) }
            }
            running[id]?.payload = payload
            log.debug("Received the payload", ["type": request.activity.type.text, "device": request.device.short])
            step(id) { $0.receivedContent(payload.content) }
        case .failure(let failure):
            // The origin is off or asleep, and has not announced it.
            if failure.isOffline, running[id]?.kept == nil, let copy = keptOffers.copy(of: request.offer) {
                running[id]?.kept = copy
                return receive(copy, for: id, request)
            }
            step(id) { $0.fetchFailed(failure) }
        }
    }

    /// Returns a newer state of the same activity, unless the user has requested the older one.
    private func newerState(than lineage: Lineage, _ request: Request) -> NewerState? {
        request.mayBeOlder ? nil : lineages.newer(than: lineage, of: request.activity.id, on: request.device)
    }

    private func receive(_ kept: KeptOffers.KeptOffer, for id: ContinuationID, _ request: Request) {
        received(Payload.decode(keptOffers.payload(of: kept), from: request.origin.deviceName), for: id, request)
    }

    /// The versions of the app at the origin from which the recipient continues the activity; nil
    /// for any. The declaration of a running app takes precedence over its file.
    private func versions(_ entry: Running) -> VersionRange? {
        guard !entry.isForPage else { return nil }
        let type = entry.request.activity.type
        if let handler = entry.handler {
            return handler.versions[type]
                ?? AppID(handler.app).flatMap { installed.registry.handler($0)?.versions[type] }
        }
        return entry.started?.versions[type]
    }

    /// The failure if the recipient does not accept the version of this payload; nil if it does.
    private func mismatch(_ payload: Payload, _ entry: Running) -> HandoffFailure? {
        guard let range = versions(entry), !range.contains(payload.origin.appVersion) else { return nil }
        return .otherVersion(payload.origin.appVersion, device: entry.request.origin.deviceName, takes: range)
    }

    // MARK: - Apps and pages

    private func choose(_ content: ActivityContent, for id: ContinuationID) {
        if case .browser? = running[id]?.request.recipient { return step(id) { $0.chose(.browser) } }
        let decision = decide(content)
        if case .claims = decision.reason { running[id]?.isForPage = true }
        switch decision.opener {
        case .running(let session):
            guard let handler = apps.registry.session(session) else { fallthrough }
            running[id]?.handler = handler
            step(id) { $0.chose(refusal(of: id) ?? .handler) }
        case .page, .nothing:
            let failure = HandoffFailure.noHandler(type: content.type, cause: decision.words)
            step(id) { $0.chose(.nothing(failure)) }
        case .launch(let handler):
            running[id]?.started = handler
            step(id) { $0.chose(refusal(of: id) ?? .launch) }
        case .browser: step(id) { $0.chose(.browser) }
        }
    }

    /// The reason why the chosen app does not accept the received payload; nil if it does.
    private func refusal(of id: ContinuationID) -> ContinuationMachine.Choice? {
        guard let entry = running[id], let payload = entry.payload else { return nil }
        return mismatch(payload, entry).map { .nothing($0) }
    }

    /// Starts the app unless another continuation is already starting it.
    private func launch(_ id: ContinuationID, _ entry: Running) {
        guard let handler = entry.started else { return }
        running[id]?.launchTimer = loop.timer(after: Self.launchTime) { [self] in
            step(id) { $0.launchFailed(.appNotAttached(app: handler.name)) }
        }
        if entry.request.timeout == nil { entry.timer?.rearm(after: Self.usualTimeout + Self.launchTime) }
        let isUnderWay = running.contains { other, running in
            other != id && running.machine.awaitsApp && running.started?.id == handler.id
        }
        guard !isUnderWay else { return }
        // Weak because starting an app can outlive the core of the account.
        installed.launch(handler, for: entry.type, token: entry.request.token) { [weak self] result in
            guard let self, case .failure(let failure) = result else { return }
            log.error("Cannot start an app", ["app": handler.id.text, "reason": failure.message])
            for (id, entry) in running where entry.started?.id == handler.id {
                step(id) { $0.launchFailed(.launchFailed(app: handler.name, cause: failure.message)) }
            }
        }
    }

    private func openPage(_ content: ActivityContent, of id: ContinuationID) {
        running[id]?.handler = nil
        streams.undone(id)
        let token = running[id]?.request.token
        guard let page = content.webpageURL.flatMap({ WebPage($0) }) else {
            return step(id) { $0.pageFailed(.pageNotOpened(nil, cause: "its address cannot be used")) }
        }
        installed.open(page, token: token) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success: step(id) { $0.pageOpened() }
            case .failure(let failure):
                step(id) { $0.pageFailed(.pageNotOpened(page.argument, cause: failure.message)) }
            }
        }
    }

    // MARK: - Replies

    private func begin(_ payload: Payload, _ entry: Running, _ id: ContinuationID) {
        if let kept = entry.kept { keptOffers.began(id, kept) }
        streams.began(
            id,
            StreamRegistry.Continued(
                device: entry.request.device, activity: entry.request.activity.id, session: entry.handler?.id,
                hasStreams: payload.content.supportsStreams && !entry.isForPage))
    }

    private func reply(_ payload: Payload, _ entry: Running, _ id: ContinuationID) {
        let (type, caller) = (entry.request.activity.type, entry.caller)
        let activity = continued(payload, entry, isForPage: false)
        guard entry.machine.recipient != .caller else {
            return caller.continued(.continued(type, activity, nil, continuation: id))
        }
        let opens = entry.handler.map { ControlOpens(kind: .app, name: name($0)) } ?? ControlOpens(kind: .web)
        // The app has the activity already, and does not wait for the search.
        installed.findMissing(for: payload.content) { missing in
            caller.continued(.continued(type, activity, opens, continuation: nil, missing: missing))
        }
    }

    /// The activity with its payload. An app that claims the page's site receives only what a
    /// browser would show. The rest of the activity is for apps of its team.
    private func continued(_ payload: Payload, _ entry: Running, isForPage: Bool) -> ContinuedActivity {
        let request = entry.request
        var origin = request.origin
        origin.app = payload.origin.app
        origin.appVersion = payload.origin.appVersion
        var content = payload.content
        if isForPage {
            content = ActivityContent(type: .browsingWeb, title: content.title, webpageURL: content.webpageURL)
        }
        return ContinuedActivity(
            id: request.activity.id, content: content, origin: origin, kept: entry.kept?.state)
    }

    private func finish(_ id: ContinuationID, _ entry: Running) {
        entry.timer?.cancel()
        entry.launchTimer?.cancel()
        entry.fetch?.cancel()
        entry.caller.onClosed = nil
        running[id] = nil
        if !entry.wasTaken { streams.undone(id) }
    }
}
