import HandoffControl
import HandoffJSON
import HandoffModel

/// What the user asked `publish` to offer.
struct PublishRequest {
    let type: ActivityType
    let title: String?
    let userInfo: UserInfoSource?
    let webpageURL: String?
    let team: String?
    let requiredKeys: [String]
    /// What is streamed to the devices that continue it: a path, or `-`.
    let stream: String?

    /// The activity as the daemon gets it. It asks to be saved, so that it travels as it is when it is continued.
    func description(userInfo: JSONObject?) -> ActivityDescription {
        var description = ActivityDescription(type: type.text)
        description.title = title
        description.userInfo = userInfo
        description.webpageURL = webpageURL
        description.team = team
        if !requiredKeys.isEmpty { description.requiredUserInfoKeys = requiredKeys }
        if stream != nil { description.supportsContinuationStreams = true }
        description.needsSave = true
        return description
    }
}
