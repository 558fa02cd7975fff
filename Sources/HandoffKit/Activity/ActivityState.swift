import Foundation
import HandoffControl
import HandoffDocuments
import HandoffModel

/// What an activity says, and what became of it: the plain value inside `NSUserActivity`. The defaults are Apple's.
struct ActivityState: Sendable {
    /// What kind of activity it is; never empty.
    let type: String
    /// What the user is doing.
    var title: String?
    /// What another app needs to continue.
    var userInfo = UserInfoMembers()
    /// The keys of `userInfo` that the last typed payload has set.
    var typedPayloadKeys: [UserInfoValue] = []
    /// What is known of the files that `userInfo` names.
    var documents = DocumentTable()
    /// The keys without which it cannot be continued.
    var requiredUserInfoKeys: Set<String>?
    /// Whether there is news that was not saved.
    var needsSave = true
    /// A web page that continues it.
    var webpageURL: URL?
    /// The page that led to the web page.
    var referrerURL: URL?
    /// When it ends by itself.
    var expirationDate: Date?
    /// Words for a search; stay here.
    var keywords: Set<String> = []
    /// Whether another device may ask for streams.
    var supportsContinuationStreams = false
    /// Whether it is offered to other devices.
    var isEligibleForHandoff = true
    /// Whether a search may find it; stays here.
    var isEligibleForSearch = false
    /// Whether a public index may have it; stays here.
    var isEligibleForPublicIndexing = false
    /// Whether it may be suggested; stays here.
    var isEligibleForPrediction = false
    /// Which content it is about.
    var targetContentIdentifier: String?
    /// Its name in stores; stays here.
    var persistentIdentifier: String?
    /// Whether it has ended for good.
    var isInvalid = false

    /// A new activity of a type.
    init(type: String) {
        self.type = type
    }

    /// `userInfo` without a path of this device.
    private var travellingUserInfo: UserInfoMembers {
        guard userInfo.namesFiles, case .dictionary(let pairs) = documents.travelling(userInfo.value) else {
            return userInfo
        }
        return UserInfoMembers(pairs)
    }

    /// A title as it may travel: of one that is too long the beginning.
    private static func shortened(_ title: String) -> String {
        guard title.utf8.count > Limits.title else { return title }
        let mark = "…"
        var rest = Limits.title - mark.utf8.count
        let end = title.firstIndex { character in
            rest -= character.utf8.count
            return rest < 0
        }
        return title[..<(end ?? title.endIndex)] + mark
    }

    /// What the daemon is told about it.
    var description: ActivityDescription {
        var description = ActivityDescription(type: type)
        description.title = Self.shortened(title ?? "")
        description.userInfo = travellingUserInfo.tagged
        description.webpageURL = webpageURL?.absoluteString ?? ""
        description.requiredUserInfoKeys = requiredUserInfoKeys?.sorted() ?? []
        // Other devices fetch documents over streams, whether the app takes any of its own or not.
        description.supportsContinuationStreams =
            supportsContinuationStreams || documents.offersAny(in: userInfo.value)
        description.isEligibleForHandoff = isEligibleForHandoff
        description.expirationDate = expirationDate?.timeIntervalSinceReferenceDate
        description.targetContentIdentifier = targetContentIdentifier ?? ""
        return description
    }
}
