package import HandoffJSON
package import HandoffModel

/// Why a direction is off now.
package struct ControlHold: Sendable, Equatable {
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
