package import HandoffControl
package import HandoffJSON

/// The power-saving state of the machine. While it saves power, deferrable work should wake it less
/// often. Plain values.
package struct MachinePower: ControlMessage, Equatable {
    /// The power-profiles-daemon profile that saves power.
    private static let saver = "power-saver"

    /// True if the machine saves power.
    package var isSaving: Bool

    package init(isSaving: Bool) {
        self.isSaving = isSaving
    }

    /// - Parameters:
    ///   - isOnBattery: The value from UPower; nil if unknown.
    ///   - profile: The active profile; nil if there is none. It is the user's choice and takes
    ///     precedence.
    package init(isOnBattery: Bool?, profile: String?) {
        isSaving = profile == Self.saver || (profile != "performance" && isOnBattery ?? false)
    }

    /// The fields of a reply to `FollowPower`.
    package var json: JSONObject { ["saving": .bool(isSaving)] }

    /// Reads the fields of such a reply; throws `invalidParameter`.
    package init(json: JSONObject) throws(VarlinkError) {
        isSaving = try Fields(json).value("saving")
    }
}
