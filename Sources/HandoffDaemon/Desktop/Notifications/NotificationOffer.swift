package import HandoffControl
package import HandoffHandlers
package import HandoffModel

/// An offered activity, prepared for notifications. Plain values.
///
/// The texts of the other device are private. They can be read only as one line that is safe to
/// show. These lines are computed on access, because of hundreds of offers only the newest of a
/// device is shown. The age is omitted, so that two values are equal unless the notification
/// changes.
package struct NotificationOffer: Sendable, Equatable {
    /// The device that offers the activity.
    let device: DeviceID
    /// The activity's id.
    let activity: ActivityID
    /// The kind of the device.
    let kind: DeviceKind
    /// True if the browser would open it.
    private let isPage: Bool
    /// The app that would open it; nil for the browser, or if the id is unknown.
    let app: AppID?
    /// The icon name of that app in the desktop's theme; nil if it has none.
    let icon: String?
    private let givenApp: String?
    private let givenTitle: String?
    private let givenName: String
    /// True for a file, a folder or a stream, which is received here.
    let isFile: Bool
    /// True for a text, which is copied here.
    let isText: Bool
    /// True if a user sent it to this device.
    let isSent: Bool
    /// The reason why nothing opens it, and what is missing, as a sentence fragment, unchecked; nil if
    /// something opens it.
    let obstacle: String?
    /// What this device lacks for it, as noun phrases that are safe to show; empty if nothing.
    private let missing: String
    /// The maximum size in bytes if it is accepted without a prompt; nil if the user decides.
    package var limit: Int64?
    /// The state of the device, if this one has a copy of the activity; nil while the device offers it.
    package var kept: KeptNote?
    /// True if its app edits the content exclusively.
    private let isExclusive: Bool
    /// True if the user continues it although a newer state is known.
    package var mayBeOlder = false

    /// Nil for an offer that nothing opens here, unless a user sent it to this device.
    ///
    /// - Parameters:
    ///   - own: this device.
    ///   - now: the current time, in seconds since 1970.
    package init?(_ offer: OfferedActivity, own: DeviceID? = nil, now: Double) {
        switch offer.opens.kind.known {
        case .nothing where offer.sent:
            isPage = false
            let missing = offer.missing?.first
            let step = missing.map { $0.remedy ?? "it needs \($0.phrase)" }
            obstacle = [offer.opens.reason ?? "nothing here opens it", step].compactMap(\.self).joined(separator: "; ")
        case .nothing, nil: return nil
        case .app: (isPage, obstacle) = (false, nil)
        case .web: (isPage, obstacle) = (true, nil)
        }
        missing = (offer.missing ?? []).map(\.phrase).joined(separator: ", ")
        device = offer.device
        activity = offer.id
        kind = offer.deviceKind
        app = offer.opens.app.flatMap { AppID($0) }
        icon = isPage ? "web-browser" : offer.opens.icon
        givenApp = offer.opens.name
        givenTitle = offer.title
        givenName = offer.deviceName
        isFile = offer.type == .content
        isText = offer.type == .text
        isSent = offer.sent
        isExclusive = offer.exclusive == true && offer.kept?.state != .ended
        kept = offer.kept.map { KeptNote($0, hasStreams: offer.streams, isOwn: offer.device == own, now: now) }
    }

    /// The name of the app that would open it, or a term for the browser.
    var opener: Phrase.Text {
        if isPage { return .message("Web browser") }
        return givenApp.flatMap { NotificationText.line($0) }.map { .verbatim($0) } ?? .message("App")
    }

    /// The title of the activity.
    package var title: String? { givenTitle.flatMap { NotificationText.line($0) } }

    /// The device's name.
    var deviceName: Phrase.Text {
        NotificationText.line(givenName).map { .verbatim($0) } ?? .message("another device")
    }

    /// The title, or the opener if there is none.
    var label: Phrase.Text { title.map { .verbatim($0) } ?? opener }

    /// The title, the opener, the device, and what is missing, each cut to the width of a menu.
    package var menuLabel: Phrase {
        let app = [NotificationText.cut(opener, 24)]
        let device = [NotificationText.cut(deviceName, 24)]
        let missing = missing.isEmpty ? nil : [Phrase.Text.verbatim(NotificationText.line(missing, limit: 40) ?? "")]
        switch (title.map { [NotificationText.cut(.verbatim($0), 40)] }, missing) {
        case (let title?, let missing?):
            return .phrase(
                "{title} ({app}, {device}; not on this device: {missing})",
                ["title": title, "app": app, "device": device, "missing": missing])
        case (let title?, nil):
            return .phrase("{title} ({app}, {device})", ["title": title, "app": app, "device": device])
        case (nil, let missing?):
            return .phrase(
                "{app}, {device}; not on this device: {missing}", ["app": app, "device": device, "missing": missing])
        case (nil, nil): return .phrase("{app}, {device}", ["app": app, "device": device])
        }
    }

    /// The notes for a menu.
    package var menuNotes: [Phrase] { notes(NotificationText.cut(deviceName, 24)) }

    /// Exclusive editing, and the state of the device of a kept activity, as sentence fragments.
    ///
    /// - Parameter device: the name of the device.
    func notes(_ device: Phrase.Text) -> [Phrase] {
        (isExclusive ? [.phrase("in use there")] : []) + (kept?.phrases(device) ?? [])
    }

    /// A short description of the offer.
    var headline: Phrase {
        title.map { .phrase("{app}: {title}", ["app": [opener], "title": [.verbatim($0)]]) } ?? .alone(opener)
    }
}
