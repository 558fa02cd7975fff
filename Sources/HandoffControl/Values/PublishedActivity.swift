package import HandoffModel

/// An activity that an app of this device has published, as clients receive it.
package struct PublishedActivity: ControlValue {
    /// Its id: that of the current offer, if any, by which other devices know it.
    package var id: ActivityID
    /// The activity type.
    package var type: ActivityType
    /// A description of what the user is doing.
    package var title: String?
    /// The app that published it, or nil if it was published without an attachment.
    package var app: String?
    /// The device that it is sent to. Nil: it is offered to all.
    package var to: DeviceID?
    /// True if other devices can see it.
    package var offered: Bool
    /// Why they cannot, as a fragment.
    package var reason: String?
    /// Seconds since it became current, or nil while it is not.
    package var age: Double?
    /// The last continuation of it on another device; nil for none.
    package var continued: Continuation?
    /// The newest state that another device has of it since; nil for none, and from an older daemon.
    package var newer: NewerState?

    package init(
        id: ActivityID, type: ActivityType, title: String?, app: String?, to: DeviceID? = nil, offered: Bool,
        reason: String?, age: Double?, continued: Continuation? = nil
    ) {
        self.id = id
        self.type = type
        self.title = title
        self.app = app
        self.to = to
        self.offered = offered
        self.reason = reason
        self.age = age
        self.continued = continued
    }

    /// `Continuation`: the continuation of an activity on another device.
    package struct Continuation: ControlValue {
        /// The device that continued it.
        package var device: DeviceID
        /// Its name.
        package var deviceName: String
        /// The time in seconds since 1970.
        package var at: Double

        package init(device: DeviceID, deviceName: String, at: Double) {
            self.device = device
            self.deviceName = deviceName
            self.at = at
        }
    }
}
