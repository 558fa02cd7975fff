package import HandoffControl
package import HandoffJSON

/// The sleep state of the machine.
package enum MachineSleep: String, ControlMessage {
    /// The machine is awake: the initial state, and the state after each sleep.
    case awake
    /// The machine goes to sleep, or shuts down, when all delay locks are released, or after some seconds.
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
