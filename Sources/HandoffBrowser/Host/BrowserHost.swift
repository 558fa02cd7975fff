import HandoffClient
import HandoffControl
import HandoffHandlers
import HandoffJSON
import HandoffModel
import LoopIO

/// Connects the browser to the daemon: publishes the page in front, and opens continued pages
/// through the extension. Lives on the loop's thread as long as the browser runs.
///
/// While the daemon is unavailable, or there is no account, it only watches for files.
final class BrowserHost {
    private enum State {
        /// Not attached. Waits for file changes; the timer, if any, retries earlier.
        case waiting(LoopTimer?)
        /// Attaching, from the first attempt on.
        case attaching(AppAttachment)
        /// The state while attached.
        case attached(AppAttachment, Attachment)
    }

    /// The maximum number of sent pages that await their devices. Another one withdraws the oldest.
    private static let maxSent = 16
    /// The maximum number of attempts until files change. A starting daemon's socket file exists
    /// before it listens.
    private static let maxTries = 10
    private static let noAccount =
        "this device is not in an account: run 'handoffctl pair' on another device, then 'handoffctl join' here"

    private let loop: EventLoop
    private let places: HostPlaces
    private let app: String
    /// Sends a message to the extension.
    let post: (HostMessage) -> Void
    private var machine = FrontPageMachine()
    private var state = State.waiting(nil)
    private var rules = PageRules()
    private var isContainerUnknown = false
    private var arrival: FileArrival?
    private var tabs: TabOffer?
    private var popup: PopupSession?
    private var sent: [SentPage] = []
    private var backoff = Backoff.daemon
    private var tries = 0

    /// - Parameters:
    ///   - app: The id that the browser attaches with.
    ///   - post: Sends a message to the extension.
    init(loop: EventLoop, places: HostPlaces, app: String, post: @escaping (HostMessage) -> Void) {
        self.loop = loop
        self.places = places
        self.app = app
        self.post = post
    }

    /// Attaches, immediately or as soon as the daemon is available.
    func start() {
        // If no watch is available, only the first attempts are made until the browser restarts.
        let files = places.accounts + [places.app] + places.exclusions
        arrival = try? FileArrival(of: files, on: loop) { [weak self] in self?.filesChanged() }
        readRules()
        attach()
    }

    /// Ends the attachment and its offers.
    func stop() {
        arrival = nil
        popup = nil
        for page in sent { page.stop() }
        sent = []
        tabs?.stop()
        tabs = nil
        switch state {
        case .waiting: break
        case .attaching(let attachment), .attached(let attachment, _): attachment.stop()
        }
        state = .waiting(nil)
    }

    /// Handles a message from the extension.
    func received(_ message: ExtensionMessage) {
        switch message {
        case .page(let page):
            isContainerUnknown = page.container == PageExclusions.unknownContainer
            popup?.rulesProblem = rulesProblem
            perform(machine.front(page))
        case .noPage: perform(machine.front(nil))
        case .moved: perform(machine.moved())
        case .returned: perform(machine.returned())
        case .place(let request, let place): perform(machine.place(place, request: request))
        case .opened(let continuation, let handled):
            guard case .attached(_, let session) = state else { return }
            session.calls.answerContinue(session: session.id, continuation: continuation, handled: handled) { _ in }
        case .tabList(let request, let list):
            tabs?.answer(
                list.filter { rules.allows(FrontPage(url: $0.url, title: $0.title, container: $0.container)) },
                request: request)
        case .popup(let request): take(request)
        }
    }

    private func take(_ request: PopupRequest) {
        switch request {
        case .open:
            guard hasAccount else { return post(.lost(Self.noAccount)) }
            popup = PopupSession(path: places.control, loop: loop, host: self)
            popup?.rulesProblem = rulesProblem
            popup?.start()
        case .close: popup = nil
        case .send(let page, let place, let device): send(page, place, to: device)
        default: popup?.take(request)
        }
    }

    private func send(_ page: FrontPage, _ place: PagePlace?, to device: DeviceID) {
        guard hasAccount else { return post(.popup(.sent(device, PopupFailure(Self.noAccount)))) }
        guard rules.allows(page) else {
            let why = rulesProblem ?? "this page cannot be sent: it is local or excluded"
            return post(.popup(.sent(device, PopupFailure(why))))
        }
        let one = SentPage(page, at: place, to: device, path: places.app, loop: loop, app: app)
        if sent.count >= Self.maxSent { sent.removeFirst().stop() }
        sent.append(one)
        one.start(self)
    }

    /// Reports a change of a page that was sent to a device.
    func page(_ page: SentPage, to device: DeviceID, became event: SentPage.Event) {
        switch event {
        case .offered: post(.popup(.sent(device, nil)))
        case .taken:
            sent.removeAll { $0 === page }
            post(.popup(.taken(device)))
        case .failed(let why):
            sent.removeAll { $0 === page }
            post(.popup(.sent(device, PopupFailure(why))))
        }
    }

    // MARK: - The daemon

    private func readRules() {
        rules = places.readRules()
        perform(machine.setRules(rules))
        popup?.rulesProblem = rulesProblem
    }

    private var rulesProblem: String? { rules.problem(isContainerUnknown: isContainerUnknown) }

    private func filesChanged() {
        readRules()
        guard case .waiting = state else { return }
        backoff.reset()
        tries = 0
        attach()
    }

    private var hasAccount: Bool {
        places.accounts.isEmpty || places.accounts.contains { PlainFile.version(at: $0) != nil }
    }

    private func attach() {
        guard hasAccount else {
            state = .waiting(nil)
            return post(.lost(Self.noAccount))
        }
        let attachment = AppAttachment(
            path: places.app, loop: loop, app: AttachRequest(app: app, types: [.browsingWeb]))
        state = .attaching(attachment)
        // Failures are reported from inside `start`.
        attachment.start { [weak self, weak attachment] report in
            guard let self, let attachment, isCurrent(attachment) else { return }
            take(report, of: attachment)
        }
    }

    private func isCurrent(_ attachment: AppAttachment) -> Bool {
        switch state {
        case .waiting: false
        case .attaching(let current), .attached(let current, _): current === attachment
        }
    }

    private func take(_ report: AppAttachment.Report, of attachment: AppAttachment) {
        switch report {
        case .attached(let session):
            state = .attached(attachment, session)
            backoff.reset()
            tries = 0
            // Before the page in front, which is thus the newer of the two.
            offerTabs()
            perform(machine.attached())
        case .event(let event): take(event)
        case .lost:
            attachment.stop()
            wait("the connection to handoffd was lost")
        case .failed(.refused(let refusal)):
            // A retry would have the same result.
            tries = Self.maxTries
            wait(refusal.message)
        case .failed, .notDeclared: wait("handoffd is not running")
        }
    }

    private func offerTabs() {
        tabs?.stop()
        tabs = TabOffer(path: places.app, loop: loop, app: app, host: self)
        tabs?.start()
    }

    private func wait(_ why: String) {
        tabs?.stop()
        tabs = nil
        perform(machine.lost(why))
        tries += 1
        guard tries < Self.maxTries else { return state = .waiting(nil) }
        state = .waiting(loop.timer(after: backoff.next()) { [weak self] in self?.attach() })
    }

    private func take(_ event: AppEvent) {
        switch event {
        case .save(let id, _): perform(machine.save(id))
        case .withdrawn(let id): perform(machine.withdrawn(id))
        case .continue(let continuation, let content): open(content, continuation)
        case .continued(let id, _, _): perform(machine.continued(id))
        case .attached, .published, .saved, .willContinue, .didFail, .declined, .stream: break
        }
    }

    /// Opens a page in this browser.
    func open(_ content: ContinuedActivity, _ continuation: ContinuationID) {
        // Checked again, as any address from another device.
        guard let url = content.webpageURL, WebPage(url) != nil else {
            return received(.opened(continuation, false))
        }
        post(.open(continuation, url: url, content.userInfo[PagePlace.key]?.object.flatMap(PagePlace.init(json:))))
    }

    // MARK: - The page in front

    private func perform(_ actions: [FrontPageMachine.Action]) {
        for action in actions { perform(action) }
    }

    private func perform(_ action: FrontPageMachine.Action) {
        if case .send(let message) = action { return post(message) }
        guard case .attached(let attachment, let session) = state else { return }
        let calls = session.calls
        switch action {
        case .send: break
        case .publish(let page):
            attachment.publish(page.activity) { [weak self] result in
                guard let self, isCurrent(session) else { return }
                switch result {
                case .success(let published): perform(machine.published(published.id))
                case .failure: perform(machine.refused())
                }
            }
        case .becomeCurrent(let id): calls.becomeCurrent(session: session.id, activity: id) { _ in }
        case .invalidate(let id): calls.invalidate(session: session.id, activity: id) { _ in }
        case .update(let id, let change):
            calls.update(session: session.id, activity: id, change: change) { [weak self] _ in
                guard let self, isCurrent(session) else { return }
                perform(machine.updated())
            }
        case .answer(let id, let change):
            calls.answerSave(session: session.id, activity: id, change: change) { _ in }
        }
    }

    private func isCurrent(_ session: Attachment) -> Bool {
        if case .attached(_, let current) = state { current.calls === session.calls } else { false }
    }
}
