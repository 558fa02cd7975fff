package import HandoffControl
package import HandoffJSON

/// Whether the machine is about to sleep.
package enum MachineSleep: String, ControlMessage {
    /// It is awake; so it is at first, and after each sleep.
    case awake
    /// It goes to sleep as soon as nobody holds it up any more, or in some seconds.
    case imminent

    /// The fields of a reply to `FollowSleep`.
    package var json: JSONObject { ["sleep": .string(rawValue)] }

    /// Reads the fields of such a reply; throws `invalidParameter`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        guard let sleep = MachineSleep(rawValue: try fields.text("sleep")) else { throw fields.invalid("sleep") }
        self = sleep
    }
}
