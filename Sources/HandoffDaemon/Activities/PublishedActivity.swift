package import HandoffControlServer
package import HandoffModel
import LoopIO
package import Timing

/// Names one attachment of an app to the daemon: 16 random bytes in hexadecimal, void when its connection ends.
package typealias SessionID = String

/// An activity of this device, as its owner last described it.
package struct PublishedActivity: Sendable {
    /// The handle that the owning app uses.
    package let id: ActivityID
    /// The attachment that owns it, and with which it ends.
    package let session: SessionID
    /// The app in whose share it counts.
    package let group: ClientGroup
    /// To which device it is sent; nil: it is offered to all.
    package let recipient: DeviceID?
    /// The size of its encoded payload.
    package var bytes: Int
    /// Whether the owner can be asked to save; a publisher without a session of its own cannot answer.
    package let answersSaves: Bool
    /// Sends save requests to the owner only when another device continues the activity.
    package let savesOnContinue: Bool
    /// What the owner last told of it.
    package var content: ActivityContent
    /// Whether the owner has news that it has not yet been asked for (`NSUserActivity.needsSave`).
    package var needsSave: Bool
    /// Which use of all activities was its last one: when it was published, or became current.
    package var lastUse: UInt64
    /// When the owner last said something of it; what is silent for too long has ended, unless it has a date for that.
    package var lastNews: MonotonicInstant?
    /// The offer while it is current, nil otherwise.
    package var offer: Offer?
    /// Whether it was ever on offer: the handle serves as id of the first offer only.
    package var wasOffered = false
    /// When the owner was last asked to save and has not yet answered.
    package var saveRequested: MonotonicInstant?
    /// When the owner last answered a save request; the next periodic one waits for the refresh interval.
    package var lastSave: MonotonicInstant?

    /// What the other devices see while the activity is current.
    package struct Offer: Sendable {
        /// Void at withdrawal: an activity that becomes current again is offered under a new id.
        package let id: ActivityID
        /// When it became current.
        package let since: MonotonicInstant
    }
}
