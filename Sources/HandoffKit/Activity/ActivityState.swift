import Foundation
import HandoffControl
import HandoffDocuments
import HandoffModel

/// The properties of an activity and its status: the plain value inside `NSUserActivity`. The
/// defaults are Apple's.
struct ActivityState: Sendable {
    /// The activity type; never empty.
    let type: String
    var title: String?
    var userInfo = UserInfoMembers() {
        didSet { beforeSave = nil }
    }
    /// The contents of `userInfo` before it was emptied for the responders; nil once one of them
    /// has written to it.
    private(set) var beforeSave: BeforeSave?
    var typedPayloadKeys: [UserInfoValue] = []
    /// The known state of the files that `userInfo` names.
    var documents = DocumentTable()
    var requiredUserInfoKeys: Set<String>?
    var needsSave = true
    var webpageURL: URL?
    var referrerURL: URL?
    var expirationDate: Date?
    /// Search keywords. Not sent to other devices.
    var keywords: Set<String> = []
    var supportsContinuationStreams = false
    var isEligibleForHandoff = true
    var isEligibleForKeeping: Bool?
    /// True if a search may find the activity. Not sent to other devices.
    var isEligibleForSearch = false
    /// True if the activity may be added to a public index. Not sent to other devices.
    var isEligibleForPublicIndexing = false
    /// True if the system may suggest the activity. Not sent to other devices.
    var isEligibleForPrediction = false
    var targetContentIdentifier: String?
    /// The identifier in stores. Not sent to other devices.
    var persistentIdentifier: String?
    var isInvalid = false
    /// The kinds of advice that the app has already received for the activity.
    private var advised: Set<String> = []

    init(type: String) {
        self.type = type
    }

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

    /// Restores the former contents of `userInfo` unless a responder has written to it.
    mutating func restoreUnwrittenUserInfo() {
        guard let before = beforeSave else { return }
        userInfo = before.userInfo
        typedPayloadKeys = before.typedPayloadKeys
    }

    /// Records a piece of advice. Returns whether the app has not yet received advice of this kind.
    /// Texts that differ only in their numbers are of the same kind.
    /// - Parameter advice: nil if there is none, which makes each kind new again.
    mutating func isNew(_ advice: String?) -> Bool {
        guard let advice else {
            advised = []
            return false
        }
        return advised.insert(advice.filter { !$0.isNumber }).inserted
    }

    /// `userInfo` without paths of this device.
    private var outgoingUserInfo: UserInfoMembers {
        guard userInfo.namesFiles, case .dictionary(let pairs) = documents.outgoing(userInfo.value) else {
            return userInfo
        }
        return UserInfoMembers(pairs)
    }

    /// Returns the title as it is sent. A title that is too long is cut off at the end.
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

    var description: ActivityDescription {
        var description = ActivityDescription(type: type)
        description.title = Self.shortened(title ?? "")
        description.userInfo = outgoingUserInfo.tagged
        description.webpageURL = webpageURL?.absoluteString ?? ""
        description.requiredUserInfoKeys = requiredUserInfoKeys?.sorted() ?? []
        // Other devices fetch documents over streams, whether or not the app accepts streams of its
        // own.
        description.supportsContinuationStreams =
            supportsContinuationStreams || documents.offersAny(in: userInfo.value)
        description.isEligibleForHandoff = isEligibleForHandoff
        description.keep = isEligibleForKeeping
        description.expirationDate = expirationDate?.timeIntervalSinceReferenceDate
        description.targetContentIdentifier = targetContentIdentifier ?? ""
        return description
    }
}
