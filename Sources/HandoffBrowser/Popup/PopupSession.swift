import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO
import QRText

/// Serves the popup while it is open, over the daemon's control socket. Lives on the loop's thread.
/// Releasing it cancels its requests, except for activities that the user is continuing.
final class PopupSession {
    private let path: String
    private let loop: EventLoop
    /// Sends messages to the popup, and opens pages in this browser.
    private weak var host: BrowserHost?
    private var watch: ControlClient?
    private var changes: ControlClient?
    private var calls: ControlClient?
    private var offers: [OfferedActivity] = []
    /// The activities that are kept, some of which may be on offer.
    private var recent: [OfferedActivity] = []
    private var lastRecent: PopupAnswer?
    private var isWatchReady = false
    private var status: ControlStatus?
    private var lastStatus: PopupAnswer?
    /// The reason why no page is offered, which the popup shows with the daemon's warnings.
    var rulesProblem: String? {
        didSet { if rulesProblem != oldValue { requestStatus() } }
    }
    private var requests: [DeviceID: TabRequest] = [:]

    init(path: String, loop: EventLoop, host: BrowserHost) {
        self.path = path
        self.loop = loop
        self.host = host
    }

    private func post(_ answer: PopupAnswer) {
        host?.post(.popup(answer))
    }

    /// Starts sending state and changes.
    func start() {
        do throws(ClientError) {
            calls = try ControlClient(path: path, loop: loop)
            let watch = try ControlClient(path: path, loop: loop)
            self.watch = watch
            let changes = try ControlClient(path: path, loop: loop)
            self.changes = changes
            changes.followChanges { [weak self] result in
                // The client that watches the offers reports when the connection to the daemon is
                // lost.
                guard case .success(let changes) = result else { return }
                if changes.changed.contains(.init(.recent)) { self?.requestRecent() }
                guard changes.changed.contains(where: { $0 != .apps && $0 != .recent }) else { return }
                self?.requestStatus()
            }
            watch.watch { [weak self] result in
                switch result {
                case .success(let event): self?.take(event)
                case .failure(let error): self?.post(.trouble(PopupFailure(error)))
                }
            }
        } catch {
            post(.trouble(PopupFailure(error)))
        }
    }

    /// Handles a request of the popup.
    func take(_ request: PopupRequest) {
        switch request {
        case .open, .close, .send: break
        case .go(let activity, let device, let mayBeOlder): go(activity, device, mayBeOlder: mayBeOlder)
        case .tabs: requestTabs()
        case .pause(let seconds): set(SetSwitchesRequest(advertise: false, seconds: seconds))
        case .resume: set(SetSwitchesRequest(advertise: true))
        case .code(let url):
            // A phone that scans the code is on the same network, so local addresses are useful.
            let isAcceptable = [nil, .local].contains(WebURL.problem(of: url))
            post(.code(url: url, rows: isAcceptable ? QRCode(url)?.rows : nil))
        }
    }

    // MARK: - Status and offers

    private func requestStatus() {
        calls?.getStatus { [weak self] result in
            switch result {
            case .success(let status):
                self?.status = status
                self?.requestDevices()
            case .failure(let error): self?.post(.trouble(PopupFailure(error)))
            }
        }
    }

    private func requestDevices() {
        calls?.listDevices { [weak self] result in
            guard let self, var status else { return }
            if let rulesProblem { status.warnings.insert(rulesProblem, at: 0) }
            // Without an account there are no devices.
            let answer = PopupAnswer.status(status, (try? result.get()) ?? [])
            if answer != lastStatus { post(answer) }
            lastStatus = answer
            showRecent()
        }
    }

    private func requestRecent() {
        calls?.listActivities(here: true, recent: true) { [weak self] result in
            // Offers are shown without them.
            self?.recent = (try? result.get()) ?? []
            self?.showRecent()
        }
    }

    /// Sends the recent activities that are not on offer, once all is known.
    private func showRecent() {
        guard isWatchReady, let status else { return }
        let shown = recent.filter { activity in
            !Self.isTabs(activity) && !offers.contains { $0.id == activity.id && $0.device == activity.device }
        }
        let answer = PopupAnswer.recent(shown, own: status.device)
        if answer != lastRecent { post(answer) }
        lastRecent = answer
    }

    private func set(_ request: SetSwitchesRequest) {
        calls?.setSwitches(request) { [weak self] result in
            if case .failure(let error) = result { self?.post(.trouble(PopupFailure(error))) }
            self?.requestStatus()
        }
    }

    private func take(_ event: WatchEvent) {
        switch event {
        case .ready: isWatchReady = true
        // Existing offers arrive newest first, later ones one by one.
        case .added(let offer): offers.insert(offer, at: isWatchReady ? 0 : offers.endIndex)
        case .changed(let offer):
            offers = offers.map { $0.id == offer.id && $0.device == offer.device ? offer : $0 }
        case .removed(let offer): offers.removeAll { $0.id == offer.id && $0.device == offer.device }
        }
        guard isWatchReady else { return }
        let shown = offers.filter { !Self.isTabs($0) && $0.opens.kind != .nothing }
        // Those of devices that cannot be reached last.
        post(.offers(shown.filter { $0.kept == nil } + shown.filter { $0.kept != nil }))
        showRecent()
    }

    private static func isTabs(_ offer: OfferedActivity) -> Bool { offer.type.text == OpenTab.activityType }

    // MARK: - Continuing

    private func go(_ activity: ActivityID, _ device: DeviceID, mayBeOlder: Bool) {
        guard let offer = (offers + recent).first(where: { $0.id == activity && $0.device == device }),
            let client = try? ControlClient(path: path, loop: loop)
        else { return post(.went(activity, device, PopupFailure("it is no longer available"))) }
        // A page opens in this browser, even if it is not the default one.
        let isPage = offer.type == .browsingWeb
        let request = ContinueRequest(
            activity: activity.hex, from: device.hex, take: isPage, older: mayBeOlder ? true : nil)
        // Uses its own connection, because the popup closes as soon as the user has chosen.
        client.continueActivity(request) { [weak host] result in
            switch result {
            case .success(.willContinue): break
            case .success(.continued(_, let content, _, let continuation, _)):
                if isPage, let content, let continuation { host?.open(content, continuation) }
                host?.post(.popup(.went(activity, device, nil)))
                client.close()
            case .failure(let error):
                host?.post(.popup(.went(activity, device, PopupFailure(error))))
                client.close()
            }
        }
    }

    // MARK: - Tabs

    private func requestTabs() {
        for offer in offers where Self.isTabs(offer) && requests[offer.device] == nil {
            let report = { [weak self] (result: Result<[OpenTab], PopupFailure>) in
                guard let self else { return }
                post(.tabs(offer.device, name: offer.deviceName, result))
            }
            do throws(ClientError) {
                requests[offer.device] = try TabRequest(offer, path: path, loop: loop) { [weak self] result in
                    report(result.mapError { PopupFailure($0) })
                    self?.loop.later { self?.requests[offer.device] = nil }
                }
            } catch {
                report(.failure(PopupFailure(error)))
            }
        }
    }
}

extension QRCode {
    /// Rows from the top, with `1` for a dark module and `0` for a light one.
    fileprivate var rows: [String] {
        (0..<size).map { row in (0..<size).map { isDark(row: row, column: $0) ? "1" : "0" }.joined() }
    }
}

extension PopupFailure {
    /// A client's error, for display.
    init(_ error: ClientError) {
        switch error {
        case .notReachable: self.init("handoffd is not running")
        case .foreign: self.init("the socket of handoffd belongs to another user")
        case .lost: self.init("the connection to handoffd was lost")
        case .badAnswer(let what): self.init(what)
        case .refused(let refusal):
            let newer = refusal.parameters["newer"]?.object.flatMap { try? NewerState(json: $0) }
            self.init(VisibleText.escape(refusal.message), newer: newer)
        }
    }
}
