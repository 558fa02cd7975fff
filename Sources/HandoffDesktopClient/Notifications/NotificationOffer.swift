package import HandoffControl
package import HandoffHandlers
package import HandoffModel

/// An activity on offer, as a notification speaks of it. Plain values; all text is one line and safe to show, and made so when it
/// is asked for: of hundreds of offers only the newest of a device is shown.
package struct NotificationOffer: Sendable, Equatable {
    /// The device that offers it.
    package let device: DeviceID
    /// Its id.
    package let activity: ActivityID
    /// What the device is.
    package let kind: DeviceKind
    /// Whether the browser would open it.
    private let isPage: Bool
    /// The app that would open it; nil for the browser, and for one whose id is not known.
    package let app: AppID?
    /// The icon of that app, as the desktop's theme names it; nil when it says none.
    package let icon: String?
    private let givenApp: String?
    private let givenTitle: String?
    private let givenName: String
    /// Whether it is a file, a folder or a stream, which is received here.
    package let isFile: Bool
    /// Whether its user has sent it here.
    package let isSent: Bool

    /// Nil for an offer that nothing opens here.
    package init?(_ offer: ControlActivity) {
        switch offer.opens.kind {
        case .nothing: return nil
        case .app: isPage = false
        case .web: isPage = true
        }
        device = offer.device
        activity = offer.id
        kind = offer.deviceKind
        app = offer.opens.app.flatMap { AppID($0) }
        icon = isPage ? "web-browser" : offer.opens.icon
        givenApp = offer.opens.name
        givenTitle = offer.title
        givenName = offer.deviceName
        isFile = offer.type == .content
        isSent = offer.sent
    }

    /// What would open it: the name of an app, or words for the browser.
    package var opener: String { isPage ? "Web browser" : givenApp.flatMap { NotificationText.line($0) } ?? "App" }

    /// What the user is doing there.
    package var title: String? { givenTitle.flatMap { NotificationText.line($0) } }

    /// What the device is called.
    package var deviceName: String { NotificationText.line(givenName) ?? "another device" }

    /// Its title, or else its opener.
    var label: String { title ?? opener }

    /// The offer in a few words.
    var headline: String { title.map { "\(opener): \($0)" } ?? opener }
}
