package import HandoffJSON

/// The results of `Watch`: how the offers of the other devices change.
package enum WatchEvent: Sendable, Equatable {
    /// An activity is on offer now.
    case added(ControlActivity)
    /// An offer is another than before.
    case changed(ControlActivity)
    /// An offer is gone; the activity is as it was last.
    case removed(ControlActivity)
    /// Every offer that there was at the beginning has been told.
    case ready

    /// Reads the results; throws `invalidParameter`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        switch try fields.text("event") {
        case "added": self = .added(try ControlActivity(try fields.fields("activity")))
        case "changed": self = .changed(try ControlActivity(try fields.fields("activity")))
        case "removed": self = .removed(try ControlActivity(try fields.fields("activity")))
        case "ready": self = .ready
        default: throw fields.invalid("event")
        }
    }

    /// The results on the socket.
    package var json: JSONObject {
        ["event": .string(name), "activity": .nullable(activity?.json)]
    }

    /// The field `event`.
    package var name: String {
        switch self {
        case .added: "added"
        case .changed: "changed"
        case .removed: "removed"
        case .ready: "ready"
        }
    }

    /// The activity that it is about.
    package var activity: ControlActivity? {
        switch self {
        case .added(let activity), .changed(let activity), .removed(let activity): activity
        case .ready: nil
        }
    }
}
