import HandoffControl
import HandoffHandlers
package import HandoffModel
package import LoopIO

/// Shows the offers of other devices as desktop notifications. Lives on the daemon's loop.
///
/// Performs the actions of `NotificationMachine`. Without a notification server, it does nothing.
package final class NotificationService {
    /// The maximum time to wait for the server when stopping.
    private static let stopTimeout = Duration.milliseconds(500)

    private let loop: EventLoop
    private let log: Logger
    private let find: NotificationServerFinding?
    /// Outlives this object.
    private unowned let delegate: any NotificationServiceDelegate
    private var machine: NotificationMachine
    private var isOn: Bool
    private var isRunning = false
    private var server: (any NotificationServing)?
    private var timer: LoopTimer?
    private var onStopped: (() -> Void)?
    /// The reason why this device is no longer a member of its account, until the user has been
    /// notified.
    private var exclusion: String?

    /// - Parameter find: Finds the notification server; nil if there is none.
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

    /// Starts looking for a server.
    package func start() {
        isRunning = true
        connect()
    }

    /// Removes all notifications from the screen, and stops showing any.
    ///
    /// - Parameter completion: Called once when that is done: immediately, or after the server's
    ///   pending replies, whose ids are needed to remove notifications.
    package func stop(completion: @escaping () -> Void) {
        isRunning = false
        onStopped = completion
        change { $0.stop(now: $1) }
        timer = nil
        guard onStopped != nil else { return }
        timer = loop.timer(after: Self.stopTimeout) { [weak self] in self?.finish() }
    }

    /// The state of notifications, and the outcome of those that were shown.
    var report: ControlNotifications { machine.report }

    private func finish() {
        for action in machine.giveUp() { perform(action) }
        timer = nil
        // Deferred, because the server must not be stopped in its own reply.
        if let server { loop.later { server.stop() } }
        server = nil
        let completion = onStopped
        onStopped = nil
        completion?()
    }

    /// Sets the activities that can be continued here, most recent first.
    ///
    /// - Parameter devices: The devices whose offers are replaced; nil replaces all.
    package func take(_ offers: [NotificationOffer], of devices: Set<DeviceID>? = nil) {
        change { $0.take(offers, of: devices, now: $1) }
    }

    /// Records that the session is locked or the user is away, or that the user is back.
    package func setQuiet(_ isQuiet: Bool) {
        change { $0.setQuiet(isQuiet, now: $1) }
        showExclusion()
    }

    /// Enables or disables notifications.
    package func setOn(_ isOn: Bool) {
        guard isOn != self.isOn else { return }
        self.isOn = isOn
        // Keeps the server: notifications that await an id can be removed only after its reply.
        change { $0.setOn(isOn, now: $1) }
        connect()
        showExclusion()
    }

    /// Continues an activity that the user chose elsewhere, as a click on its notification does.
    func choose(_ offer: NotificationOffer, token: ActivationToken?) {
        change { $0.chosen(offer, token: token, now: $1) }
    }

    /// Records that a chosen activity was continued.
    ///
    /// - Parameters:
    ///   - missing: the things that this device lacks for it.
    ///   - kept: the state of its device, if a copy was continued.
    func continued(_ offer: NotificationOffer, missing: [ControlMissing], kept: KeptNote?) {
        guard !missing.isEmpty || kept != nil else { return }
        let phrases = missing.isEmpty ? nil : missing.map(\.phrase).joined(separator: ", ")
        var offer = offer
        offer.kept = kept
        change { $0.incomplete(offer, phrases, now: $1) }
    }

    /// Records that a chosen activity was not continued because of a newer state.
    func foundNewer(_ note: NewerNote, than offer: NotificationOffer) {
        change { $0.foundNewer(note, than: offer, now: $1) }
    }

    /// Records that an activity was continued here, in any way.
    func continued(_ activity: ActivityID, from device: DeviceID) {
        change { $0.continued(activity, from: device, now: $1) }
    }

    /// Records the result of a file that an app received.
    func received(_ activity: ActivityID, from device: DeviceID, by app: String, _ end: ReceivedEnd) {
        change { $0.received(activity, from: device, by: app, end, now: $1) }
    }

    /// Records the progress of a file that an app receives, and returns the reply for the app.
    func progressed(_ report: ReportProgressRequest, by app: String) -> ReportProgressReply {
        var reply = ReportProgressReply()
        change { machine, now in
            let result = machine.progressed(report, by: app, now: now)
            reply = result.reply
            return result.actions
        }
        return reply
    }

    /// Records the end of an app's attachment.
    func sessionEnded(_ session: SessionID) {
        change { $0.sessionEnded(session, now: $1) }
    }

    /// Records that this device is no longer a member of its account. The user is notified once,
    /// when present.
    func excluded(because problem: String) {
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
        server = find(loop) { [weak self] in self?.handle($0) }
    }

    private func handle(_ event: NotificationEvent) {
        switch event {
        case .appeared:
            change { $0.serverAppeared(now: $1) }
            showExclusion()
        case .gone:
            log.debug("Lost the notification server")
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
            if !machine.awaitsReply { finish() }
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
                self?.log.debug("Queried the notification server", ["capabilities": found])
                self?.change { $0.answered(number, names.map { NotificationCapabilities($0) }, now: $1) }
            }
        case .show(let number, let notification, let former):
            server?.show(notification, replacing: former) { [weak self] id in
                self?.change { $0.shown(number, as: id, now: $1) }
            }
        case .withdraw(let id): server?.withdraw(id)
        case .decline(let offer): delegate.decline(offer)
        case .saveAs(let offers, let token): delegate.saveAs(offers, token: token)
        case .mute(let app): delegate.mute(app)
        case .open(let path, let shows, let token): delegate.openFile(path, shows: shows, token: token)
        case .continue(let offer, let token):
            log.info("Continuing the chosen activity", ["device": offer.device.short])
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
