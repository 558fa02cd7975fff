import HandoffControl
import HandoffJSON

extension ActivityChange {
    /// Creates the change that turns `old` into `new`. It contains only the members that differ.
    /// Texts are compared as bytes, because they may be paths.
    init(from old: ActivityDescription, to new: ActivityDescription) {
        self.init()
        if !old.title.hasSameBytes(as: new.title) { title = new.title }
        if old.userInfo != new.userInfo { userInfo = new.userInfo }
        if !old.webpageURL.hasSameBytes(as: new.webpageURL) { webpageURL = new.webpageURL }
        if old.requiredUserInfoKeys?.map(BytewiseText.init) != new.requiredUserInfoKeys?.map(BytewiseText.init) {
            requiredUserInfoKeys = new.requiredUserInfoKeys
        }
        if old.supportsContinuationStreams != new.supportsContinuationStreams {
            supportsContinuationStreams = new.supportsContinuationStreams
        }
        if old.isEligibleForHandoff != new.isEligibleForHandoff { isEligibleForHandoff = new.isEligibleForHandoff }
        if old.keep != new.keep { keep = new.keep }
        if old.expirationDate != new.expirationDate {
            expirationDate = new.expirationDate
            if new.expirationDate == nil { expires = false }
        }
        if !old.targetContentIdentifier.hasSameBytes(as: new.targetContentIdentifier) {
            targetContentIdentifier = new.targetContentIdentifier
        }
    }
}
