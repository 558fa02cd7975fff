package import HandoffControl
package import HandoffJSON

/// Whether the machine saves power, so that what can wait should wake it less often. Plain values.
package struct MachinePower: ControlMessage, Equatable {
    /// The profile in which power-profiles-daemon saves power.
    private static let saver = "power-saver"

    /// Whether it saves power.
    package var isSaving: Bool

    package init(isSaving: Bool) {
        self.isSaving = isSaving
    }

    /// - Parameters:
    ///   - isOnBattery: what UPower says; nil where it does not.
    ///   - profile: the profile that is active; nil where there are none. It is the user's word, and counts more.
    package init(isOnBattery: Bool?, profile: String?) {
        isSaving = profile == Self.saver || (profile != "performance" && isOnBattery ?? false)
    }

    /// The fields of a reply to `FollowPower`.
    package var json: JSONObject { ["saving": .bool(isSaving)] }

    /// Reads the fields of such a reply; throws `invalidParameter`.
    package init(json: JSONObject) throws(VarlinkError) {
        isSaving = try Fields(json).flag("saving")
    }
}
