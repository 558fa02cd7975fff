import HandoffControl
import HandoffModel
import LoopIO

/// An obstacle between this device and all others, and its remedy.
struct Obstacle: Equatable {
    /// The obstacle, as a lower-case sentence.
    let message: String
    /// The remedy: a command, or a step.
    let remedy: String

    /// Returns an obstacle if this device has no account, or is no longer a member of it.
    static func account(_ status: ControlStatus) -> Obstacle? {
        guard status.account != nil else {
            return Obstacle(
                message: "this device is not in an account",
                remedy: "handoffctl join, with the code that handoffctl pair shows on another device; on the first "
                    + "device: handoffctl account create")
        }
        guard let problem = status.standing?.known?.problem else { return nil }
        return Obstacle(
            message: problem,
            remedy: "handoffctl join, with the code that handoffctl pair shows on a device of the account; if no "
                + "device is left in it: handoffctl account create. Either gives this device a new identity")
    }

    /// Returns an obstacle if no other device has answered for a long time. This device may have
    /// been removed while it was off.
    static func unanswered(_ status: ControlStatus) -> Obstacle? {
        status.unansweredSince.map { since in
            Obstacle(
                message:
                    "no other device has answered since \(LocalTime.text(since)): they may be off or in another "
                    + "network, or this device was removed from the account",
                remedy:
                    "check on another device whether handoffctl devices lists \(status.device.short); if it does not, "
                    + "run here: handoffctl account leave, then: handoffctl join")
        }
    }

    /// Returns the restrictions for single devices.
    static func ofDevices(_ direction: SwitchDirection, _ status: ControlStatus) -> [Obstacle] {
        status.holds.filter { $0.direction == direction && $0.device != nil }.map { restriction in
            let until = restriction.until.map { " until \(LocalTime.text($0))" } ?? ""
            return Obstacle(message: VisibleText.escape(restriction.message) + until, remedy: restriction.remedy)
        }
    }

    /// Returns the first reason why no activities pass in this direction, if any.
    ///
    /// - Parameter recipient: the only recipient, online or not; nil for all devices.
    static func first(
        _ direction: SwitchDirection, _ status: ControlStatus, to recipient: String? = nil
    ) -> Obstacle? {
        if let account = account(status) { return account }
        if status.standing == .joining {
            return Obstacle(
                message: "no member has admitted this device yet", remedy: "handoffctl status shows what is missing")
        }
        if let restriction = status.holds.first(where: { $0.direction == direction && $0.device == nil }) {
            return Obstacle(message: restriction.message, remedy: restriction.remedy)
        }
        guard recipient != nil || status.peers.contains(where: { $0.device != nil }) else {
            return Obstacle(
                message: "no other device of the account is online",
                remedy: "handoffctl devices shows which are offline; handoffctl doctor looks for the reason")
        }
        return nil
    }
}

extension ControlRestriction {
    /// The action that removes the restriction.
    var remedy: String {
        switch author.known {
        case .user:
            let device = device.map { " --device \($0.short)" } ?? ""
            return "handoffctl \(direction.text) on\(device)"
        case .configuration:
            return "remove 'advertise = off' from handoffd.conf, then: systemctl --user reload handoffd"
        case .policy: return "ask the administrator of this machine: it is set in /etc/handoff/policy.d"
        case .network: return "handoffctl network trust, if you trust it"
        case .session:
            return "unlock or use the screen; lock-delay and idle-delay in handoffd.conf set the delays"
        case nil: return "handoffctl status shows the reason"
        }
    }
}
