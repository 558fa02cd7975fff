/// A state of an activity that is newer than the requested one.
package struct NewerState: Hashable, Sendable, Codable {
    /// The id by which it is continued.
    package let activity: ActivityID
    /// The device that has it.
    package let device: DeviceID
    /// The name of that device.
    package let deviceName: String
    /// True if that is this device, which cannot continue it from itself.
    package let here: Bool
    /// When the device got it, or the time of the kept copy, in seconds since 1970.
    package let since: Double

    package init(activity: ActivityID, device: DeviceID, deviceName: String, here: Bool, since: Double) {
        self.activity = activity
        self.device = device
        self.deviceName = deviceName
        self.here = here
        self.since = since
    }
}
