package import HandoffJSON

/// The parameters of `Continue`: by the beginning of an id, or the latest that fits.
package struct ContinueRequest: Sendable, Equatable {
    /// The beginning of the activity's id, in hexadecimal.
    package var activity: String?
    /// The type that it must have.
    package var type: String?
    /// The device that it must come from: the beginning of its id, or its name.
    package var from: String?
    /// Whether the caller is the handler and gets the payload; false by default.
    package var take: Bool?
    /// How long it may take, in seconds.
    package var timeout: Double?

    /// A request for the latest activity.
    package init(
        activity: String? = nil, type: String? = nil, from: String? = nil, take: Bool? = nil, timeout: Double? = nil
    ) {
        self.activity = activity
        self.type = type
        self.from = from
        self.take = take
        self.timeout = timeout
    }

    /// Reads the parameters; throws `invalidParameter`, also for a time that is not above zero.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        self.init(
            activity: try fields.optionalText("activity"), type: try fields.optionalText("type"),
            from: try fields.optionalText("from"), take: try fields.optionalFlag("take"),
            timeout: try fields.optionalNumber("timeout"))
        if let timeout, !(timeout > 0 && timeout.isFinite) { throw fields.invalid("timeout") }
    }

    /// The parameters on the socket; what is absent is left out.
    package var json: JSONObject {
        var json: JSONObject = [:]
        json["activity"] = activity.map(JSON.string)
        json["type"] = type.map(JSON.string)
        json["from"] = from.map(JSON.string)
        json["take"] = take.map(JSON.bool)
        json["timeout"] = timeout.map(JSON.real)
        return json
    }
}
