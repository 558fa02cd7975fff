package import HandoffControl
import HandoffDesktop
package import HandoffLog
package import HandoffModel
package import LoopIO
import Timing

/// Tells the user what the other devices offer, by the desktop's notifications. Lives on the daemon's loop.
///
/// `NotificationMachine` decides; this performs. Without a notification server nothing happens, and nobody minds.
package final class NotificationService {
    /// How long the end may wait for the server.
    private static let timeoutAtEnd = Duration.milliseconds(500)

    private let loop: EventLoop
    private let log: Logger
    private let find: NotificationServerFinding?
    /// Outlives this.
    private unowned let delegate: any NotificationServiceDelegate
    private var machine: NotificationMachine
    private var isOn: Bool
    private var isRunning = false
    private var server: (any NotificationServing)?
    private var timer: LoopTimer?
    private var onStopped: (() -> Void)?
    /// Why this device is no member of its account any more, until the user has been notified.
    private var exclusion: String?

    /// - Parameter find: how the server is found; nil: there is none.
    package init(
        loop: EventLoop, log: Logger, isOn: Bool, find: NotificationServerFinding?,
        delegate: any NotificationServiceDelegate
    ) {
        self.loop = loop
        self.log = log
        self.isOn = isOn
        self.find = find
        self.delegate = delegate
        machine = NotificationMachine(isOn: isOn)
    }

    /// Begins to look for a server.
    package func start() {
        isRunning = true
        connect()
    }

    /// Takes off all that is on the screen, and shows nothing any more.
    ///
    /// - Parameter completion: called once that is done: at once, or when the server has answered what is on its way to it,
    ///   without whose answer it could not be taken off.
    package func stop(completion: @escaping () -> Void) {
        isRunning = false
        onStopped = completion
        change { $0.stop(now: $1) }
        timer = nil
        guard onStopped != nil else { return }
        timer = loop.timer(after: Self.timeoutAtEnd) { [weak self] in self?.finish() }
    }

    /// Whether offers are shown, and what became of those that were.
    package var report: ControlNotifications { machine.report }

    private func finish() {
        for action in machine.giveUp() { perform(action) }
        timer = nil
        // Not inside the server's own answer.
        if let server { loop.later { server.stop() } }
        server = nil
        let completion = onStopped
        onStopped = nil
        completion?()
    }

    /// Takes what can be continued here, most recent first.
    ///
    /// - Parameter devices: whose offers these are; nil: they are all.
    package func take(_ offers: [NotificationOffer], of devices: Set<DeviceID>? = nil) {
        change { $0.take(offers, of: devices, now: $1) }
    }

    /// The screen is locked, or nobody is there; or the user is back.
    package func setQuiet(_ isQuiet: Bool) {
        change { $0.setQuiet(isQuiet, now: $1) }
        showExclusion()
    }

    /// Notifications are switched on or off.
    package func setOn(_ isOn: Bool) {
        guard isOn != self.isOn else { return }
        self.isOn = isOn
        // A server stays: what is on its way to it can be taken off only once it has answered.
        change { $0.setOn(isOn, now: $1) }
        connect()
        showExclusion()
    }

    /// An activity was continued here, in whatever way.
    package func continued(_ activity: ActivityID, from device: DeviceID) {
        change { $0.continued(activity, from: device, now: $1) }
    }

    /// An app says what became of a file that it receives.
    package func received(_ activity: ActivityID, from device: DeviceID, by app: String, _ end: ReceivedEnd) {
        change { $0.received(activity, from: device, by: app, end, now: $1) }
    }

    /// This device is no member of its account any more. The user is notified once, when they are there.
    package func excluded(because problem: String) {
        exclusion = problem
        showExclusion()
    }

    private func showExclusion() {
        guard exclusion != nil, machine.mayShow, let server else { return }
        server.ask { [weak self] names in
            guard let self, let names, let problem = exclusion, machine.mayShow else { return }
            exclusion = nil
            self.server?.show(
                NotificationContent.exclusion(problem, NotificationCapabilities(names)), replacing: 0
            ) { _ in }
        }
    }

    private func connect() {
        guard isRunning, isOn, server == nil, let find else { return }
        server = find(loop) { [weak self] in self?.told($0) }
    }

    private func told(_ event: NotificationEvent) {
        switch event {
        case .appeared:
            change { $0.serverAppeared(now: $1) }
            showExclusion()
        case .gone:
            log.debug("The notification server is gone")
            change { machine, now in
                machine.serverGone(now: now)
                return []
            }
        case .closed(let id, let reason): change { $0.closed(id, reason: reason, now: $1) }
        case .token(let id, let text): machine.token(id, text)
        case .chosen(let id, let key): change { $0.chosen(id, key: key, now: $1) }
        }
    }

    private func change(_ body: (inout NotificationMachine, MonotonicInstant) -> [NotificationMachine.Action]) {
        for action in body(&machine, loop.now) { perform(action) }
        guard onStopped == nil else {
            if !machine.awaitsAnswer { finish() }
            return
        }
        arm()
    }

    private func perform(_ action: NotificationMachine.Action) {
        switch action {
        case .ask(let number):
            guard let server else {
                return loop.later { [weak self] in self?.change { $0.answered(number, nil, now: $1) } }
            }
            server.ask { [weak self] names in
                let found = names?.joined(separator: " ") ?? "none"
                self?.log.debug("Asked for a notification server", ["capabilities": found])
                self?.change { $0.answered(number, names.map { NotificationCapabilities($0) }, now: $1) }
            }
        case .show(let number, let notification, let former):
            server?.show(notification, replacing: former) { [weak self] id in
                self?.change { $0.shown(number, as: id, now: $1) }
            }
        case .withdraw(let id): server?.withdraw(id)
        case .decline(let offer): delegate.decline(offer)
        case .mute(let app): delegate.mute(app)
        case .open(let path, let shows, let token): delegate.openFile(path, shows: shows, token: token)
        case .continue(let offer, let token):
            log.info("Continues what was chosen", ["device": offer.device.short])
            delegate.continueChosen(offer, token: token) { [weak self] reason in
                guard let reason else {
                    self?.change { $0.done(offer, now: $1) }
                    return
                }
                self?.change { $0.failed(offer, reason, now: $1) }
            }
        }
    }

    private func arm() {
        guard let deadline = machine.deadline else {
            timer = nil
            return
        }
        let wait = max(deadline - loop.now, .zero)
        timer = loop.timer(after: wait, accuracy: .milliseconds(100)) { [weak self] in
            self?.change { $0.deadlinePassed(now: $1) }
        }
    }
}
