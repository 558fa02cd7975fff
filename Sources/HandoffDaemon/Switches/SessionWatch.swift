import HandoffControl
import HandoffHandlers
import HandoffModel
import LoopIO

/// Tracks the user's sessions, and reports whether they restrict advertising. Lives on the daemon's
/// loop.
final class SessionWatch {
    private let loop: EventLoop
    private let log: Logger
    private let wallClock: any WallClock
    /// Receives the restriction by the session.
    private let switches: SwitchController
    /// Keeps the activity of other devices off the screen while the gate is quiet.
    private let notifications: NotificationService
    private var gate: SessionGate
    private var timer: LoopTimer?
    private var following: AnyObject?

    init(
        loop: EventLoop, log: Logger, delays: SessionDelays, wallClock: any WallClock, switches: SwitchController,
        notifications: NotificationService
    ) {
        self.loop = loop
        self.log = log
        self.wallClock = wallClock
        self.switches = switches
        self.notifications = notifications
        gate = SessionGate(delays: delays)
    }

    /// Starts tracking. Without a source of sessions, they restrict nothing.
    func start(_ follow: SessionFollowing?) {
        guard let follow else { return take(LoginReport.absent) }
        // Until the first report nothing is advertised, because the screen may be locked.
        switches.take(sessionRestriction: restriction)
        following = follow(loop) { [weak self] in self?.take($0) }
    }

    /// Stops tracking.
    func stop() {
        following = nil
        timer = nil
    }

    /// The reason why nothing is advertised, as a sentence in lower case; nil while advertising is
    /// allowed.
    var restriction: String? {
        switch gate.reason {
        case nil: nil
        case .unknown: "it is not known yet whether the screen is locked"
        case .notYetUnlocked: "the screen has not been unlocked since the start"
        case .locked: "the screen is locked"
        case .idle: "the screen is not in use"
        }
    }

    /// Applies other delays.
    func take(_ delays: SessionDelays) {
        change { $0.take(delays, unixSeconds: wallClock.unixSeconds, now: loop.now) }
    }

    private func take(_ report: LoginReport) {
        change { $0.take(report, unixSeconds: wallClock.unixSeconds, now: loop.now) }
    }

    private func change(_ body: (inout SessionGate) -> Void) {
        let former = gate.reason
        let wasQuiet = gate.isQuiet
        body(&gate)
        arm()
        if gate.isQuiet != wasQuiet { notifications.setQuiet(gate.isQuiet) }
        guard gate.reason != former else { return }
        if former != .unknown || gate.reason != nil {
            log.info("The session has changed", ["advertises": gate.reason == nil ? "yes" : "no"])
        }
        switches.take(sessionRestriction: restriction)
    }

    private func arm() {
        timer = nil
        guard let deadline = gate.deadline else { return }
        timer = loop.timer(after: max(deadline - loop.now, .zero), accuracy: .milliseconds(100)) {
            [weak self] in self?.change { $0.deadlinePassed(now: deadline) }
        }
    }
}

/// Starts tracking sessions on a loop, and reports each change. Releasing the result ends it.
typealias SessionFollowing = (EventLoop, @escaping (LoginReport) -> Void) -> AnyObject
