package import HandoffModel

/// `PublishedActivity`: an activity that an app of this device has published.
package struct ControlPublication: ControlValue {
    /// Its id: that of the offer while there is one, by which other devices know it.
    package var id: ActivityID
    /// What kind of activity it is.
    package var type: ActivityType
    /// What the user is doing.
    package var title: String?
    /// The app that published it; nil for what was published without an attachment.
    package var app: String?
    /// To which device it is sent; nil: it is offered to all.
    package var to: DeviceID?
    /// Whether other devices may see it.
    package var offered: Bool
    /// Why they may not, as a fragment.
    package var reason: String?
    /// Seconds since it became current; nil while it is not.
    package var age: Double?

    /// An activity with these properties.
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
