import HandoffClient
import HandoffControl
import HandoffModel
import LoopIO
import QRText

/// Serves the popup while it is open, over the daemon's control socket. Lives on the loop's thread; letting go of it ends all that it
/// has begun, but for what the user has begun to continue.
final class PopupSession {
    private let path: String
    private let loop: EventLoop
    /// Tells the popup, and opens pages in this browser.
    private weak var host: BrowserHost?
    private var watch: ControlClient?
    private var changes: ControlClient?
    private var calls: ControlClient?
    private var offers: [ControlActivity] = []
    private var isWatchReady = false
    private var status: ControlStatus?
    private var said: PopupAnswer?
    /// Why no page is offered, which the popup shows with the warnings of the daemon.
    var rulesProblem: String? {
        didSet { if rulesProblem != oldValue { askStatus() } }
    }
    private var requests: [DeviceID: TabRequest] = [:]

    init(path: String, loop: EventLoop, host: BrowserHost) {
        self.path = path
        self.loop = loop
        self.host = host
    }

    private func say(_ answer: PopupAnswer) {
        host?.say(.popup(answer))
    }

    /// Begins to tell what there is.
    func start() {
        do throws(ClientError) {
            calls = try ControlClient(path: path, loop: loop)
            let watch = try ControlClient(path: path, loop: loop)
            self.watch = watch
            let changes = try ControlClient(path: path, loop: loop)
            self.changes = changes
            changes.followChanges { [weak self] result in
                // That the daemon has gone is said once, by the one that watches the offers.
                guard case .success(let changes) = result, changes.changed.contains(where: { $0 != .apps }) else {
                    return
                }
                self?.askStatus()
            }
            watch.watch { [weak self] result in
                switch result {
                case .success(let event): self?.take(event)
                case .failure(let error): self?.say(.trouble(PopupFailure(error)))
                }
            }
        } catch {
            say(.trouble(PopupFailure(error)))
        }
    }

    /// Does what the popup asks for.
    func take(_ request: PopupRequest) {
        switch request {
        case .open, .close, .send: break
        case .go(let activity, let device): go(activity, device)
        case .tabs: askForTabs()
        case .pause(let seconds): set(SetSwitchesRequest(advertise: false, seconds: seconds))
        case .resume: set(SetSwitchesRequest(advertise: true))
        case .code(let url): say(.code(url: url, rows: WebURL.isAcceptable(url) ? QRCode(url)?.rows : nil))
        }
    }

    // MARK: - Status and offers

    private func askStatus() {
        calls?.getStatus { [weak self] result in
            switch result {
            case .success(let status):
                self?.status = status
                self?.askDevices()
            case .failure(let error): self?.say(.trouble(PopupFailure(error)))
            }
        }
    }

    private func askDevices() {
        calls?.listDevices { [weak self] result in
            guard let self, var status else { return }
            if let rulesProblem { status.warnings.insert(rulesProblem, at: 0) }
            // Without an account there are none.
            let answer = PopupAnswer.status(status, (try? result.get()) ?? [])
            if answer != said { say(answer) }
            said = answer
        }
    }

    private func set(_ request: SetSwitchesRequest) {
        calls?.setSwitches(request) { [weak self] result in
            if case .failure(let error) = result { self?.say(.trouble(PopupFailure(error))) }
            self?.askStatus()
        }
    }

    private func take(_ event: WatchEvent) {
        switch event {
        case .ready: isWatchReady = true
        // Those that were there come the newest first, and the others one after the other.
        case .added(let offer): offers.insert(offer, at: isWatchReady ? 0 : offers.endIndex)
        case .changed(let offer):
            offers = offers.map { $0.id == offer.id && $0.device == offer.device ? offer : $0 }
        case .removed(let offer): offers.removeAll { $0.id == offer.id && $0.device == offer.device }
        }
        guard isWatchReady else { return }
        say(.offers(offers.filter { !Self.isTabs($0) && $0.opens.kind != .nothing }))
    }

    private static func isTabs(_ offer: ControlActivity) -> Bool { offer.type.text == OpenTab.activityType }

    // MARK: - Continuing

    private func go(_ activity: ActivityID, _ device: DeviceID) {
        guard let offer = offers.first(where: { $0.id == activity && $0.device == device }),
            let client = try? ControlClient(path: path, loop: loop)
        else { return say(.went(activity, PopupFailure("it is not on offer any more"))) }
        // A page opens in this browser, whichever is the default one.
        let isPage = offer.type == .browsingWeb
        let request = ContinueRequest(activity: activity.hex, from: device.hex, take: isPage)
        // Keeps its connection: the popup closes as soon as the user has chosen.
        client.continueActivity(request) { [weak host] result in
            switch result {
            case .success(.willContinue): break
            case .success(.continued(_, let content, _, let continuation)):
                if isPage, let content, let continuation { host?.open(content, continuation) }
                host?.say(.popup(.went(activity, nil)))
                client.close()
            case .failure(let error):
                host?.say(.popup(.went(activity, PopupFailure(error))))
                client.close()
            }
        }
    }

    // MARK: - Tabs

    private func askForTabs() {
        for offer in offers where Self.isTabs(offer) && requests[offer.device] == nil {
            let tell = { [weak self] (result: Result<[OpenTab], PopupFailure>) in
                guard let self else { return }
                say(.tabs(offer.device, name: offer.deviceName, result))
            }
            do throws(ClientError) {
                requests[offer.device] = try TabRequest(offer, path: path, loop: loop) { [weak self] result in
                    tell(result.mapError { PopupFailure($0) })
                    self?.loop.later { self?.requests[offer.device] = nil }
                }
            } catch {
                tell(.failure(PopupFailure(error)))
            }
        }
    }
}

extension QRCode {
    /// Each row from the top, with a `1` for a dark module and a `0` for a light one.
    fileprivate var rows: [String] {
        (0..<size).map { row in (0..<size).map { isDark(row: row, column: $0) ? "1" : "0" }.joined() }
    }
}

extension PopupFailure {
    /// What a client was told, for people.
    init(_ error: ClientError) {
        switch error {
        case .notReachable: self.init("handoffd does not run")
        case .foreign: self.init("the socket of handoffd belongs to somebody else")
        case .lost: self.init("handoffd went away")
        case .badAnswer(let what): self.init(what)
        case .refused(let refusal): self.init(VisibleText.escape(refusal.message))
        }
    }
}
