package import HandoffJSON
package import HandoffModel

/// `ActivityDescription`: an activity, as described by the app that owns it. The field types are
/// correct; `content()` checks the values.
package struct ActivityDescription: ControlRequest {
    /// The activity type, unchecked.
    package var type: String
    /// A description of what the user is doing.
    package var title: String?
    /// The state that another app needs to continue, in the tagged form.
    package var userInfo: JSONObject?
    /// A web page that continues it.
    package var webpageURL: String?
    /// The team of the app, if it differs from that of its session.
    package var team: String?
    /// The keys required to continue the activity.
    package var requiredUserInfoKeys: [String]?
    /// True if another device may request continuation streams. Default: false.
    package var supportsContinuationStreams: Bool?
    /// True if it is offered to other devices. Default: true.
    package var isEligibleForHandoff: Bool?
    /// True if the app must save before the activity is continued. Default: true, as in
    /// `NSUserActivity`.
    package var needsSave: Bool?
    /// True if save requests are sent to the app only when another device continues the activity.
    /// Default: false. For state that must not be read earlier.
    package var savesOnContinue: Bool?
    /// True if other devices may also keep it once its app has ended; false if they may never keep it.
    /// Nil: they keep it while it is on offer and this device is offline.
    package var keep: Bool?
    /// When the activity expires, in seconds since 2001-01-01 UTC.
    package var expirationDate: Double?
    /// The identifier of its content.
    package var targetContentIdentifier: String?
    /// The activity that it continues, as received with that; nil if it began here.
    package var lineage: Lineage?
    /// True if the app edits the content exclusively: other devices show it, and may still continue it.
    package var exclusive: Bool?
    /// The effect of a continuation on the activity. Default: none.
    package var afterwards: Afterwards?
    /// The only device to offer it to: its name, or the start of its id. Nil: all devices.
    package var to: String?

    /// Sentinel expiration date for activities that last as long as their owner: the start of the
    /// year 4001.
    package static let neverExpires = 63_113_904_000.0
    /// The start of 2001 UTC, from which dates of activities count, in seconds since 1970.
    package static let epoch = 978_307_200.0

    /// Creates a description with a type only.
    package init(type: String) {
        self.type = type
    }

    /// The described activity, with defaults for absent fields. Only the type is checked here;
    /// `ActivityContent.validate` checks the rest. Empty strings count as absent.
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
            targetContentIdentifier: targetContentIdentifier?.isEmpty == true ? nil : targetContentIdentifier,
            lineage: lineage, isExclusive: exclusive ?? false)
    }
}

/// The effect of a continuation on another device on the activity here, as its app declares it.
package enum Afterwards: String, Codable, Sendable, CaseIterable {
    /// The activity ends.
    case close
    /// The activity is no longer the current one.
    case pause
    /// None.
    case stay
}

/// `ActivityChange`: the changes to an activity. Absent fields stay, and empty strings remove
/// fields.
package struct ActivityChange: ControlRequest {
    /// The new title.
    package var title: String?
    /// The whole new `userInfo`, in the tagged form.
    package var userInfo: JSONObject?
    /// The new web page.
    package var webpageURL: String?
    /// The new required keys.
    package var requiredUserInfoKeys: [String]?
    /// True if continuation streams may be requested from now on.
    package var supportsContinuationStreams: Bool?
    /// True if it is offered to other devices from now on.
    package var isEligibleForHandoff: Bool?
    /// True if the app must save before the activity is continued.
    package var needsSave: Bool?
    /// The new value of `keep`. True also sends the present state to the devices that keep it.
    package var keep: Bool?
    /// When the activity expires, in seconds since 2001-01-01 UTC.
    package var expirationDate: Double?
    /// False removes the expiration date.
    package var expires: Bool?
    /// The identifier of its content.
    package var targetContentIdentifier: String?
    /// The activity that it continues from now on, after the app has opened another state.
    package var lineage: Lineage?
    /// True if the app edits the content exclusively from now on.
    package var exclusive: Bool?

    /// Creates an empty change.
    package init() {}

    /// Applies the change without checking it. `needsSave` is not part of the content; read it from
    /// the change.
    package func applied(to content: ActivityContent) -> ActivityContent {
        var changed = content
        if let title { changed.title = title.isEmpty ? nil : title }
        if let userInfo { changed.userInfo = userInfo }
        if let webpageURL { changed.webpageURL = webpageURL.isEmpty ? nil : webpageURL }
        if let requiredUserInfoKeys { changed.requiredUserInfoKeys = requiredUserInfoKeys }
        if let supportsContinuationStreams { changed.supportsStreams = supportsContinuationStreams }
        if let isEligibleForHandoff { changed.isEligibleForHandoff = isEligibleForHandoff }
        if let lineage { changed.lineage = lineage }
        if let exclusive { changed.isExclusive = exclusive }
        if expires == false { changed.expiration = nil }
        if let expirationDate { changed.expiration = expirationDate }
        if let targetContentIdentifier {
            changed.targetContentIdentifier = targetContentIdentifier.isEmpty ? nil : targetContentIdentifier
        }
        return changed
    }
}
