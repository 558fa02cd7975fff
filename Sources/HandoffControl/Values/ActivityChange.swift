package import HandoffJSON
package import HandoffModel

/// `ActivityChange`: what changes in an activity; what is absent stays, and an empty text takes one away.
package struct ActivityChange: Sendable, Equatable {
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

    /// A change of nothing.
    package init() {}

    /// Reads the fields; throws `invalidParameter`.
    package init(_ fields: Fields) throws(VarlinkError) {
        title = try fields.optionalText("title")
        userInfo = try fields.optionalObject("userInfo")
        webpageURL = try fields.optionalText("webpageURL")
        requiredUserInfoKeys = try fields.optionalTexts("requiredUserInfoKeys")
        supportsContinuationStreams = try fields.optionalFlag("supportsContinuationStreams")
        isEligibleForHandoff = try fields.optionalFlag("isEligibleForHandoff")
        needsSave = try fields.optionalFlag("needsSave")
        expirationDate = try fields.optionalNumber("expirationDate")
    }

    /// The object on the socket; what is absent is left out.
    package var json: JSONObject {
        var json: JSONObject = [:]
        json["title"] = title.map(JSON.string)
        json["userInfo"] = userInfo.map(JSON.object)
        json["webpageURL"] = webpageURL.map(JSON.string)
        json["requiredUserInfoKeys"] = requiredUserInfoKeys.map(JSON.texts)
        json["supportsContinuationStreams"] = supportsContinuationStreams.map(JSON.bool)
        json["isEligibleForHandoff"] = isEligibleForHandoff.map(JSON.bool)
        json["needsSave"] = needsSave.map(JSON.bool)
        json["expirationDate"] = expirationDate.map(JSON.real)
        return json
    }

    /// The content after the change, unchecked. `needsSave` is no part of the content; read it from the change.
    package func applied(to content: ActivityContent) -> ActivityContent {
        var changed = content
        if let title { changed.title = title.isEmpty ? nil : title }
        if let userInfo { changed.userInfo = userInfo }
        if let webpageURL { changed.webpageURL = webpageURL.isEmpty ? nil : webpageURL }
        if let requiredUserInfoKeys { changed.requiredUserInfoKeys = requiredUserInfoKeys }
        if let supportsContinuationStreams { changed.supportsStreams = supportsContinuationStreams }
        if let isEligibleForHandoff { changed.isEligibleForHandoff = isEligibleForHandoff }
        if let expirationDate { changed.expiration = expirationDate }
        return changed
    }
}
