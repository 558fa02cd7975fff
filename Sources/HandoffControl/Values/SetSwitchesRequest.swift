package import HandoffJSON

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
