package import HandoffModel

/// The results of `SetSwitches`, and part of those of `GetStatus`: what is on, and why not.
package struct ControlSwitches: ControlValue {
    /// Whether this device offers anything to others.
    package var advertising: Bool
    /// Whether this device shows and takes over what others offer.
    package var receiving: Bool
    /// What keeps it from either now, for all devices or for one.
    package var holds: [ControlRestriction]

    /// Switches with these properties.
    package init(advertising: Bool = true, receiving: Bool = true, holds: [ControlRestriction] = []) {
        self.advertising = advertising
        self.receiving = receiving
        self.holds = holds
    }
}

/// One of the two directions that can be switched off; the raw values are the words on the socket and in files.
package enum SwitchDirection: String, Codable, Sendable, CaseIterable {
    /// What this device tells the others, and gives them.
    case advertise
    /// What this device shows of the others, and takes over.
    case receive
}

/// The parameters of `SetSwitches`.
package struct SetSwitchesRequest: ControlRequest {
    /// Whether to advertise; nil leaves it as it is.
    package var advertise: Bool?
    /// Whether to receive; nil leaves it as it is.
    package var receive: Bool?
    /// For how many seconds what is switched off stays so; nil: until somebody switches it on.
    package var seconds: Double?
    /// The only device that it concerns, by its name or the beginning of its id; nil: all.
    package var device: String?

    /// A request with these properties.
    package init(advertise: Bool? = nil, receive: Bool? = nil, seconds: Double? = nil, device: String? = nil) {
        self.advertise = advertise
        self.receive = receive
        self.seconds = seconds
        self.device = device
    }

    /// The time is above zero.
    package func check() throws(VarlinkError) {
        if let seconds, !(seconds > 0 && seconds.isFinite) { throw .invalidParameter("seconds") }
    }
}

/// Why a direction is off now.
package struct ControlRestriction: ControlValue {
    /// Who has switched it off; the raw values are the words on the socket.
    package enum Author: String, Codable, Sendable {
        /// The user, with a switch.
        case user
        /// The user or the administrator, in `handoffd.conf`.
        case configuration
        /// The administrator, in a policy.
        case policy
        /// The session is locked, or nobody has used it for a while.
        case session
        /// The network is none that the user knows.
        case network
    }

    /// What is off.
    package var direction: SwitchDirection
    /// Who has switched it off.
    package var author: Author
    /// The only device that it concerns; nil: all.
    package var device: DeviceID?
    /// Until when, in seconds since 1970; nil: until somebody switches it on.
    package var until: Double?
    /// The reason as a sentence for people, in lower case.
    package var message: String

    private enum CodingKeys: String, CodingKey {
        case direction
        case author = "by"
        case device, until, message
    }

    /// A reason with these properties.
    package init(
        direction: SwitchDirection, author: Author, device: DeviceID? = nil, until: Double? = nil, message: String
    ) {
        self.direction = direction
        self.author = author
        self.device = device
        self.until = until
        self.message = message
    }
}
