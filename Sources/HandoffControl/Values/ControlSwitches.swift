package import HandoffModel

/// The results of `SetSwitches`, and part of those of `GetStatus`: the active directions, and why
/// others are off.
package struct ControlSwitches: ControlValue {
    /// True if this device offers anything to others.
    package var advertising: Bool
    /// True if this device shows and continues offers of others.
    package var receiving: Bool
    /// Why either is off now, for all devices or for one.
    package var holds: [ControlRestriction]

    package init(advertising: Bool = true, receiving: Bool = true, holds: [ControlRestriction] = []) {
        self.advertising = advertising
        self.receiving = receiving
        self.holds = holds
    }
}

/// One of the two directions that can be switched off. The raw values are used on the socket and in
/// files.
package enum SwitchDirection: String, Codable, Sendable, CaseIterable {
    /// Announcing and sending to other devices.
    case advertise
    /// Showing and continuing offers of other devices.
    case receive
}

/// The parameters of `SetSwitches`.
package struct SetSwitchesRequest: ControlRequest {
    /// True to advertise, false not to. Nil leaves it unchanged.
    package var advertise: Bool?
    /// True to receive, false not to. Nil leaves it unchanged.
    package var receive: Bool?
    /// The seconds for which a direction stays off. Nil: until the user switches it on.
    package var seconds: Double?
    /// The only device affected, by its name or the start of its id. Nil: all devices.
    package var device: String?

    package init(advertise: Bool? = nil, receive: Bool? = nil, seconds: Double? = nil, device: String? = nil) {
        self.advertise = advertise
        self.receive = receive
        self.seconds = seconds
        self.device = device
    }

    /// Checks that the time is positive.
    package func check() throws(VarlinkError) {
        if let seconds, !(seconds > 0 && seconds.isFinite) { throw .invalidParameter("seconds") }
    }
}

/// Why a direction is off now.
package struct ControlRestriction: ControlValue {
    /// The author of the restriction. The raw values are used on the socket.
    package enum Author: String, Codable, Sendable, CaseIterable {
        /// The user, with a switch.
        case user
        /// The user or the administrator, in `handoffd.conf`.
        case configuration
        /// The administrator, in a policy.
        case policy
        /// The session is locked or has been idle.
        case session
        /// The network is not a known one.
        case network
    }

    /// The direction that is off.
    package var direction: ReplyWord<SwitchDirection>
    /// The author of the restriction.
    package var author: ReplyWord<Author>
    /// The only device affected. Nil: all devices.
    package var device: DeviceID?
    /// When it ends, in seconds since 1970. Nil: when the user switches it on.
    package var until: Double?
    /// The reason as a lower-case sentence for users.
    package var message: String

    private enum CodingKeys: String, CodingKey {
        case direction
        case author = "by"
        case device, until, message
    }

    package init(
        direction: SwitchDirection, author: Author, device: DeviceID? = nil, until: Double? = nil, message: String
    ) {
        self.direction = ReplyWord(direction)
        self.author = ReplyWord(author)
        self.device = device
        self.until = until
        self.message = message
    }
}
