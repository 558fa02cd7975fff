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
    var userInfo = UserInfoMembers() {
        didSet { beforeSave = nil }
    }
    /// What `userInfo` was before it was emptied for the responders; nil once one of them has written to it.
    private(set) var beforeSave: BeforeSave?
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
    /// The kinds of advice that the app has received for it.
    private var advised: Set<String> = []

    /// A new activity of a type.
    init(type: String) {
        self.type = type
    }

    /// Replaces `userInfo`.
    mutating func setUserInfo(_ members: UserInfoMembers) {
        userInfo = members
        typedPayloadKeys = []
    }

    /// The contents of `userInfo` and of the typed payload in it.
    struct BeforeSave {
        fileprivate let userInfo: UserInfoMembers
        fileprivate let typedPayloadKeys: [UserInfoValue]
    }

    /// Empties `userInfo` for the responders, which write the state from scratch.
    mutating func emptyUserInfo() {
        let before = BeforeSave(userInfo: userInfo, typedPayloadKeys: typedPayloadKeys)
        setUserInfo(UserInfoMembers())
        beforeSave = before
    }

    /// Restores what `userInfo` was, unless a responder has written to it.
    mutating func restoreUnwrittenUserInfo() {
        guard let before = beforeSave else { return }
        userInfo = before.userInfo
        typedPayloadKeys = before.typedPayloadKeys
    }

    /// Whether the app has not received advice of this kind: the same with other numbers is of the same kind.
    /// - Parameter advice: nil when there is none, after which each kind is new again.
    mutating func isNew(_ advice: String?) -> Bool {
        guard let advice else {
            advised = []
            return false
        }
        return advised.insert(advice.filter { !$0.isNumber }).inserted
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
