package import HandoffControl
package import HandoffModel

/// An activity on offer, as a notification speaks of it. Plain values; all text is one line and safe to show.
package struct NotificationOffer: Sendable, Equatable {
    /// The device that offers it.
    package let device: DeviceID
    /// Its id.
    package let activity: ActivityID
    /// What would open it: the name of an app, or words for the browser.
    package let opener: String
    /// What the user is doing there.
    package let title: String?
    /// What the device is called.
    package let deviceName: String
    /// What the device is.
    package let kind: DeviceKind

    /// Nil for an offer that nothing opens here.
    package init?(_ offer: ControlActivity) {
        switch offer.opens.kind {
        case .nothing: return nil
        case .app: opener = offer.opens.name.flatMap { NotificationText.line($0) } ?? "App"
        case .web: opener = "Web browser"
        }
        device = offer.device
        activity = offer.id
        title = offer.title.flatMap { NotificationText.line($0) }
        deviceName = NotificationText.line(offer.deviceName) ?? "another device"
        kind = offer.deviceKind
    }

    /// The offer in a few words.
    var headline: String { title.map { "\(opener): \($0)" } ?? opener }
}
