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

    package init(
        id: ActivityID, type: ActivityType, title: String?, app: String?, to: DeviceID? = nil, offered: Bool,
        reason: String?, age: Double?
    ) {
        self.id = id
        self.type = type
        self.title = title
        self.app = app
        self.to = to
        self.offered = offered
        self.reason = reason
        self.age = age
    }
}
