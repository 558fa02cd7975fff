public import Foundation

/// What shows something that the user does, and keeps the activity for it, in an app whose views belong to no actor. A view class of
/// any toolkit inherits from it, or has one as a member; one of the main actor inherits from `UIResponder`.
///
/// Unchecked Sendable is for subclasses to say; this class may be called from any thread.
nonisolated open class HandoffResponder: NSObject, HandoffRestoring {
    private let lock = NSLock()
    private var stored: NSUserActivity?

    /// A responder without an activity.
    public override init() {
        super.init()
    }

    deinit {
        // Nobody can bring it up to date any more.
        guard let activity = stored, activity.remove(ObjectIdentifier(self)) else { return }
        activity.invalidate()
    }

    /// The activity that this shows. Setting it makes the activity current; setting nil ends the engagement of the former one
    /// unless another responder shares it. When the last responder of an activity is released, the activity ends.
    open var userActivity: NSUserActivity? {
        get { lock.withLock { stored } }
        set {
            let former = lock.withLock {
                defer { stored = newValue }
                return stored
            }
            Responder.free(self).changesActivity(from: former, to: newValue)
        }
    }

    /// Writes the state into the activity, by `addUserInfoEntries(from:)`: called before each save, on the callback queue, with
    /// an empty `userInfo`, to which all responders of the activity add in turn. Where none of them writes to it, its former content stays.
    /// Does nothing unless overridden.
    open func updateUserActivityState(_ activity: NSUserActivity) {}

    /// Takes the state from an activity that is continued. Does nothing unless overridden.
    open func restoreUserActivityState(_ activity: NSUserActivity) {}
}
