package import HandoffJSON
package import HandoffModel

/// `ActivityDescription`: an activity, as the app that owns it describes it. The types of the fields are right;
/// what they say is checked by `content()`.
package struct ActivityDescription: ControlRequest {
    /// What kind of activity it is, unchecked.
    package var type: String
    /// What the user is doing.
    package var title: String?
    /// What another app needs to continue, in the tagged form.
    package var userInfo: JSONObject?
    /// A web page that continues it.
    package var webpageURL: String?
    /// The team of the app, if another than that of its session.
    package var team: String?
    /// The keys without which it cannot be continued.
    package var requiredUserInfoKeys: [String]?
    /// Whether another device may ask for continuation streams; false by default.
    package var supportsContinuationStreams: Bool?
    /// Whether it is offered to other devices; true by default.
    package var isEligibleForHandoff: Bool?
    /// Whether the app wants to save before the activity is continued; true by default, as in `NSUserActivity`.
    package var needsSave: Bool?
    /// Whether the app is asked to save only when another device continues the activity; false by default. For state that must not
    /// be read earlier.
    package var savesOnContinue: Bool?
    /// When it ends by itself, in seconds since 2001-01-01 UTC.
    package var expirationDate: Double?
    /// Which content it is about.
    package var targetContentIdentifier: String?
    /// The one device that is told of it: its name, or the beginning of its id; all are without this.
    package var to: String?

    /// A date that nobody lives to see, for what ends only with its owner: the beginning of the year 4001.
    package static let neverExpires = 63_113_904_000.0

    /// A description of which everything but the type is absent.
    package init(type: String) {
        self.type = type
    }

    /// The activity that is described, with defaults for what is absent; only the type is checked here, the rest by
    /// `ActivityContent.validate`. Empty texts are absent ones.
    package func content(sessionTeam: String? = nil) throws(ActivityError) -> ActivityContent {
        guard let type = ActivityType(type) else {
            throw .invalid(field: "type", message: "not an activity type: \(ActivityType.rule)")
        }
        let team = team ?? sessionTeam
        return ActivityContent(
            type: type, title: title?.isEmpty == true ? nil : title, userInfo: userInfo ?? [:],
            webpageURL: webpageURL?.isEmpty == true ? nil : webpageURL, team: team?.isEmpty == true ? nil : team,
            requiredUserInfoKeys: requiredUserInfoKeys ?? [], supportsStreams: supportsContinuationStreams ?? false,
            isEligibleForHandoff: isEligibleForHandoff ?? true, expiration: expirationDate,
            targetContentIdentifier: targetContentIdentifier?.isEmpty == true ? nil : targetContentIdentifier)
    }
}

/// `ActivityChange`: what changes in an activity; what is absent stays, and an empty text takes one away.
package struct ActivityChange: ControlRequest {
    /// The new title.
    package var title: String?
    /// The whole new `userInfo`, in the tagged form.
    package var userInfo: JSONObject?
    /// The new web page.
    package var webpageURL: String?
    /// The new required keys.
    package var requiredUserInfoKeys: [String]?
    /// Whether continuation streams can be asked for from now on.
    package var supportsContinuationStreams: Bool?
    /// Whether it is offered to other devices from now on.
    package var isEligibleForHandoff: Bool?
    /// Whether the app wants to save before the activity is continued.
    package var needsSave: Bool?
    /// When it ends by itself, in seconds since 2001-01-01 UTC.
    package var expirationDate: Double?
    /// False takes the date away.
    package var expires: Bool?
    /// Which content it is about.
    package var targetContentIdentifier: String?

    /// A change of nothing.
    package init() {}

    /// The content after the change, unchecked. `needsSave` is no part of the content; read it from the change.
    package func applied(to content: ActivityContent) -> ActivityContent {
        var changed = content
        if let title { changed.title = title.isEmpty ? nil : title }
        if let userInfo { changed.userInfo = userInfo }
        if let webpageURL { changed.webpageURL = webpageURL.isEmpty ? nil : webpageURL }
        if let requiredUserInfoKeys { changed.requiredUserInfoKeys = requiredUserInfoKeys }
        if let supportsContinuationStreams { changed.supportsStreams = supportsContinuationStreams }
        if let isEligibleForHandoff { changed.isEligibleForHandoff = isEligibleForHandoff }
        if expires == false { changed.expiration = nil }
        if let expirationDate { changed.expiration = expirationDate }
        if let targetContentIdentifier {
            changed.targetContentIdentifier = targetContentIdentifier.isEmpty ? nil : targetContentIdentifier
        }
        return changed
    }
}
