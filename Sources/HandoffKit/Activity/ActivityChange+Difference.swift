import HandoffControl

extension ActivityChange {
    /// Creates the change that turns `old` into `new`. It contains only the members that differ.
    init(from old: ActivityDescription, to new: ActivityDescription) {
        self.init()
        if old.title != new.title { title = new.title }
        if old.userInfo != new.userInfo { userInfo = new.userInfo }
        if old.webpageURL != new.webpageURL { webpageURL = new.webpageURL }
        if old.requiredUserInfoKeys != new.requiredUserInfoKeys { requiredUserInfoKeys = new.requiredUserInfoKeys }
        if old.supportsContinuationStreams != new.supportsContinuationStreams {
            supportsContinuationStreams = new.supportsContinuationStreams
        }
        if old.isEligibleForHandoff != new.isEligibleForHandoff { isEligibleForHandoff = new.isEligibleForHandoff }
        if old.expirationDate != new.expirationDate {
            expirationDate = new.expirationDate
            if new.expirationDate == nil { expires = false }
        }
        if old.targetContentIdentifier != new.targetContentIdentifier {
            targetContentIdentifier = new.targetContentIdentifier
        }
    }
}
