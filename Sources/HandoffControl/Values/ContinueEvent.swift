package import HandoffJSON
package import HandoffModel

/// The results of `Continue`.
package enum ContinueEvent: Sendable, Equatable {
    /// An activity of this type is on its way.
    case willContinue(ActivityType)
    /// The activity was continued: by the caller if it asked to take it, otherwise by what opened it.
    case continued(ActivityType, ContinuedActivity?, ControlOpens?)

    /// Reads the results; throws `invalidParameter`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        switch try fields.text("event") {
        case "willContinue": self = .willContinue(try fields.type("type"))
        case "continued":
            var activity: ContinuedActivity?
            if let inner = try fields.optionalFields("activity") { activity = try ContinuedActivity(inner) }
            var opens: ControlOpens?
            if let inner = try fields.optionalFields("opens") { opens = try ControlOpens(inner) }
            self = .continued(try fields.type("type"), activity, opens)
        default: throw fields.invalid("event")
        }
    }

    /// The results on the socket.
    package var json: JSONObject {
        switch self {
        case .willContinue(let type):
            ["event": "willContinue", "type": .string(type.text), "activity": nil, "opens": nil]
        case .continued(let type, let activity, let opens):
            [
                "event": "continued", "type": .string(type.text), "activity": .nullable(activity?.json),
                "opens": .nullable(opens?.json),
            ]
        }
    }
}
