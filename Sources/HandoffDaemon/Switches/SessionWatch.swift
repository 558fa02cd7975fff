import HandoffConfiguration
import HandoffControl
package import HandoffDesktop
import HandoffDesktopClient
import HandoffLog
package import LoopIO
import Timing

/// Follows the user's sessions, and says what they keep from being advertised. Lives on the daemon's loop.
final class SessionWatch {
    private let loop: EventLoop
    private let log: Logger
    private let wallClock: any WallClock
    /// What the session keeps from being advertised.
    private let switches: SwitchController
    /// What other devices do stays off the screen while the user is not to be disturbed.
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

    /// Begins to follow; without a way to, no session keeps anything from being advertised.
    func start(_ follow: SessionFollowing?) {
        guard let follow else { return take(LoginReport.absent) }
        // Before anything is known nothing is advertised: the screen may be locked.
        switches.take(sessionHold: hold)
        following = follow(loop) { [weak self] in self?.take($0) }
    }

    /// Ends it.
    func stop() {
        following = nil
        timer = nil
    }

    /// Why nothing is advertised, as a sentence in lower case; nil while it is.
    var hold: String? {
        switch gate.reason {
        case nil: nil
        case .unknown: "nothing is advertised before it is known whether the screen is locked"
        case .notYetUnlocked: "the screen has not been unlocked since the start"
        case .locked: "the screen is locked"
        case .idle: "nobody uses the screen"
        }
    }

    /// Takes other delays.
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
        switches.take(sessionHold: hold)
    }

    private func arm() {
        timer = nil
        guard let deadline = gate.deadline else { return }
        timer = loop.timer(after: max(deadline - loop.now, .zero), accuracy: .milliseconds(100)) {
            [weak self] in self?.change { $0.deadlinePassed(now: deadline) }
        }
    }
}

/// How sessions are followed: on a loop, telling each change; what is returned ends it when it is let go.
package typealias SessionFollowing = (EventLoop, @escaping (LoginReport) -> Void) -> AnyObject
