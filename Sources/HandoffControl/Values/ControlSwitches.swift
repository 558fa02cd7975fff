package import HandoffJSON

/// The results of `SetSwitches`, and part of those of `GetStatus`: what is on, and why not.
package struct ControlSwitches: Sendable, Equatable {
    /// Whether this device offers anything to others.
    package var advertising: Bool
    /// Whether this device shows and takes over what others offer.
    package var receiving: Bool
    /// What keeps it from either now, for all devices or for one.
    package var holds: [ControlHold]

    /// Switches with these properties.
    package init(advertising: Bool = true, receiving: Bool = true, holds: [ControlHold] = []) {
        self.advertising = advertising
        self.receiving = receiving
        self.holds = holds
    }

    /// Reads the results; throws `invalidParameter`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        var holds: [ControlHold] = []
        for hold in try fields.list("holds") { holds.append(try ControlHold(hold)) }
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
