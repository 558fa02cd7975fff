package import HandoffJSON
package import HandoffModel

/// The results of `Continue`.
package enum ContinueEvent: Sendable, Equatable {
    /// An activity of this type is on its way.
    case willContinue(ActivityType)
    /// The activity was continued: by the caller if it asked to take it, otherwise by what opened it. A caller that took it
    /// opens streams by the continuation.
    case continued(ActivityType, ContinuedActivity?, ControlOpens?, continuation: ContinuationID?)

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
            self = .continued(
                try fields.type("type"), activity, opens, continuation: try fields.optionalID("continuation"))
        default: throw fields.invalid("event")
        }
    }

    /// The results on the socket.
    package var json: JSONObject {
        switch self {
        case .willContinue(let type):
            [
                "event": "willContinue", "type": .string(type.text), "activity": nil, "opens": nil,
                "continuation": nil,
            ]
        case .continued(let type, let activity, let opens, let continuation):
            [
                "event": "continued", "type": .string(type.text), "activity": .nullable(activity?.json),
                "opens": .nullable(opens?.json), "continuation": .nullable(continuation?.hex),
            ]
        }
    }
}
