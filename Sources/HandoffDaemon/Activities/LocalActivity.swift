import HandoffControl
import HandoffJSON
package import HandoffModel
import HandoffProtocol
import LoopIO

/// The id of an app's attachment: 16 random bytes in hexadecimal, invalid once its connection ends.
package typealias SessionID = String

/// Determines whether other devices keep an activity while this one is offline.
package enum KeepRule: Sendable {
    /// They keep it while it is on offer.
    case whileOffered
    /// They also keep it once its app has ended, or has another current activity.
    case afterEnd
    /// They never keep it.
    case never

    /// The rule for the field `keep` of a description.
    package init(_ keep: Bool?) {
        self = keep.map { $0 ? .afterEnd : .never } ?? .whileOffered
    }
}

/// The file in the copies of an item that is sent, as far as its owner has passed it.
package struct KeptContent: Sendable {
    package let name: String
    /// The size of the complete file in bytes.
    package let size: Int
    package var bytes: [UInt8] = []

    var isComplete: Bool { bytes.count == size }
}

/// A local activity, as its owner last described it.
package struct LocalActivity: Sendable {
    /// The handle that the owner uses.
    package let id: ActivityID
    /// The attachment that owns the activity. The activity ends with it.
    let session: SessionID
    /// The app that the activity counts for.
    let group: ClientGroup
    /// The app as named in the payload.
    let origin: PayloadOrigin
    /// The device that the activity is sent to; nil if it is offered to all.
    let recipient: DeviceID?
    /// The size of the encoded payload in bytes, as it is sent.
    var bytes: Int
    /// Whether the owner can answer save requests. A publisher without a session of its own cannot.
    let answersSaves: Bool
    /// Whether save requests are sent to the owner only when another device continues the activity.
    let savesOnContinue: Bool
    /// Whether other devices may keep the activity while this one is offline.
    var keeping: KeepRule
    /// The effect of a continuation on the activity.
    let afterwards: Afterwards
    /// The file that its copies contain in place of its streams.
    var keptContent: KeptContent?
    /// The number of changes of the content so far.
    var changes: UInt64 = 0
    /// The content of the owner's last update, without local paths.
    var content: ActivityContent {
        didSet { if content != oldValue { changes += 1 } }
    }
    /// Whether the owner has unsaved changes that were not requested yet
    /// (`NSUserActivity.needsSave`).
    var needsSave: Bool
    /// The number of the activity's last use among all uses: when it was published, or became
    /// current.
    var lastUse: UInt64
    /// The time of the owner's last update. Without updates the activity ends after a while, unless
    /// it has an expiration date.
    var lastUpdate: MonotonicInstant?
    /// The id of the offer and the time at which the activity became current; nil while it is not.
    /// The id is invalid after withdrawal: an activity that becomes current again is offered under
    /// a new id.
    package var offer: (id: ActivityID, since: MonotonicInstant)?
    /// Whether it was ever on offer. The handle is the id of the first offer only.
    var wasOffered = false
    /// The time of the pending save request; nil if none is pending.
    var saveRequested: MonotonicInstant?
    /// The time of the owner's last answer to a save request. The next periodic request is due one
    /// refresh interval later.
    var lastSave: MonotonicInstant?

    /// The size of the payload and the file in its copies, in bytes.
    var allBytes: Int { bytes + (keptContent?.size ?? 0) }

    /// Returns the offer as it is announced at `now`; nil while there is none.
    func localOffer(now: MonotonicInstant) -> LocalOffer? {
        guard let offer, content.isEligibleForHandoff else { return nil }
        let summary = ActivitySummary(
            id: offer.id, type: content.type, title: content.title, team: content.team,
            supportsStreams: content.supportsStreams, hasWebpageURL: content.webpageURL != nil,
            age: UInt32(clamping: offer.since.duration(to: now).components.seconds), isSent: recipient != nil,
            lineage: content.lineage, isExclusive: content.isExclusive)
        return LocalOffer(summary, recipient: recipient)
    }
}
