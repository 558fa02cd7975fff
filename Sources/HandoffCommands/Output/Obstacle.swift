import HandoffControl
import HandoffModel
import LoopIO

/// What keeps activities from going between this device and all others, and what to do about it.
struct Obstacle: Equatable {
    /// What it is, as a sentence in lower case.
    let message: String
    /// What to do: a command, or a step.
    let remedy: String

    /// The account: none, or one that this device is not a member of.
    static func account(_ status: ControlStatus) -> Obstacle? {
        guard status.account != nil else {
            return Obstacle(
                message: "this device is in no account",
                remedy: "handoffctl join, with the code that handoffctl pair shows on another device; on the first "
                    + "one: handoffctl account create")
        }
        guard let problem = status.standing?.problem else { return nil }
        return Obstacle(
            message: problem,
            remedy: "handoffctl join, with the code that handoffctl pair shows on a device of the account; if none is "
                + "left in it: handoffctl account create. Either gives this device a new identity")
    }

    /// That no other device has answered for long, which may mean that this one was removed while it was off.
    static func silence(_ status: ControlStatus) -> Obstacle? {
        status.unansweredSince.map { since in
            Obstacle(
                message:
                    "no other device has answered since \(LocalTime.text(since)): perhaps they are off or in another "
                    + "network, perhaps this device was removed from the account",
                remedy:
                    "see on another device whether handoffctl devices lists \(status.device.short); if it does not, "
                    + "here: handoffctl account leave, then: handoffctl join")
        }
    }

    /// What is switched off for single devices.
    static func ofDevices(_ direction: SwitchDirection, _ status: ControlStatus) -> [Obstacle] {
        status.holds.filter { $0.direction == direction && $0.device != nil }.map { hold in
            let until = hold.until.map { " until \(LocalTime.text($0))" } ?? ""
            return Obstacle(message: VisibleText.escape(hold.message) + until, remedy: hold.remedy)
        }
    }

    /// The first reason why nothing goes this way at present; nil where nothing stands between.
    ///
    /// - Parameter recipient: the one device that is meant, online or not; nil for all.
    static func first(
        _ direction: SwitchDirection, _ status: ControlStatus, to recipient: String? = nil
    ) -> Obstacle? {
        if let account = account(status) { return account }
        if status.standing == .joining {
            return Obstacle(
                message: "no member has let this device in yet", remedy: "handoffctl status says what is missing")
        }
        if let restriction = status.holds.first(where: { $0.direction == direction && $0.device == nil }) {
            return Obstacle(message: restriction.message, remedy: restriction.remedy)
        }
        guard recipient != nil || status.peers.contains(where: { $0.device != nil }) else {
            return Obstacle(
                message: "no other device of the account is there",
                remedy: "handoffctl devices shows who is away; handoffctl doctor looks for the reason")
        }
        return nil
    }
}

extension ControlRestriction {
    /// What ends it, for whoever may.
    var remedy: String {
        switch author {
        case .user:
            let device = device.map { " --device \($0.short)" } ?? ""
            return "handoffctl \(direction.rawValue) on\(device)"
        case .configuration:
            return "take 'advertise = off' out of handoffd.conf, then: systemctl --user reload handoffd"
        case .policy: return "ask who administers this machine: it is in /etc/handoff/policy.d"
        case .network: return "handoffctl network trust, if you trust it"
        case .session:
            return "unlock or use the screen; lock-delay and idle-delay in handoffd.conf say after what time it counts"
        }
    }
}
