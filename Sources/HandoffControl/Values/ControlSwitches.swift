package import HandoffJSON
package import HandoffModel

/// The results of `SetSwitches`, and part of those of `GetStatus`: what is on, and why not.
package struct ControlSwitches: Sendable, Equatable {
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

    /// Reads the results; throws `invalidParameter`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        var holds: [ControlRestriction] = []
        for hold in try fields.list("holds") { holds.append(try ControlRestriction(hold)) }
        self.init(
            advertising: try fields.flag("advertising"), receiving: try fields.flag("receiving"), holds: holds)
    }

    /// The results on the socket.
    package var json: JSONObject {
        [
            "advertising": .bool(advertising), "receiving": .bool(receiving),
            "holds": .array(holds.map { .object($0.json) }),
        ]
    }
}

/// One of the two directions that can be switched off; the raw values are the words on the socket and in files.
package enum SwitchDirection: String, Sendable, CaseIterable {
    /// What this device tells the others, and gives them.
    case advertise
    /// What this device shows of the others, and takes over.
    case receive
}

/// The parameters of `SetSwitches`.
package struct SetSwitchesRequest: Sendable, Equatable {
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

    /// Reads the parameters; throws `invalidParameter`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        self.init(
            advertise: try fields.optionalFlag("advertise"), receive: try fields.optionalFlag("receive"),
            seconds: try fields.optionalNumber("seconds"), device: try fields.optionalText("device"))
        guard seconds.map({ $0.isFinite && $0 > 0 }) ?? true else { throw fields.invalid("seconds") }
    }

    /// The parameters on the socket; what is nil is left out.
    package var json: JSONObject {
        var json: JSONObject = [:]
        json["advertise"] = advertise.map { .bool($0) }
        json["receive"] = receive.map { .bool($0) }
        json["seconds"] = seconds.map { .real($0) }
        json["device"] = device.map { .string($0) }
        return json
    }
}

/// Why a direction is off now.
package struct ControlRestriction: Sendable, Equatable {
    /// Who has switched it off; the raw values are the words on the socket.
    package enum Author: String, Sendable {
        /// The user, with a switch.
        case user
        /// The user or the administrator, in `handoffd.conf`.
        case configuration
        /// The administrator, in a policy.
        case policy
        /// The session is locked, or nobody has used it for a while.
        case session
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

    /// Reads it; throws `invalidParameter`.
    package init(_ fields: Fields) throws(VarlinkError) {
        guard let direction = SwitchDirection(rawValue: try fields.text("direction")) else {
            throw fields.invalid("direction")
        }
        guard let author = Author(rawValue: try fields.text("by")) else { throw fields.invalid("by") }
        self.init(
            direction: direction, author: author, device: try fields.optionalID("device"),
            until: try fields.optionalNumber("until"), message: try fields.text("message"))
    }

    /// The reason on the socket.
    package var json: JSONObject {
        [
            "direction": .string(direction.rawValue), "by": .string(author.rawValue),
            "device": .nullable(device?.hex), "until": until.map { .real($0) } ?? .null, "message": .string(message),
        ]
    }
}
