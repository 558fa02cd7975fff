public import Foundation

/// What shows something that the user does, and keeps the activity for it: the part that `UIResponder` and `NSResponder` have in
/// Handoff. A view class of any toolkit inherits from it, or has one as a member.
///
/// Unchecked Sendable is for subclasses to say; this class may be called from any thread.
open class HandoffResponder: NSObject, NSUserActivityRestoring {
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
            if let former, former !== newValue {
                let wasLast = former.remove(ObjectIdentifier(self))
                if newValue == nil, wasLast { former.resignCurrent() }
            }
            newValue?.add(self)
            newValue?.becomeCurrent()
        }
    }

    /// Writes the state into the activity, by `addUserInfoEntries(from:)`: called before each save, on the callback queue, with
    /// an empty `userInfo`, to which all responders of the activity add in turn. Does nothing unless overridden.
    open func updateUserActivityState(_ activity: NSUserActivity) {}

    /// Takes the state from an activity that is continued. Does nothing unless overridden.
    open func restoreUserActivityState(_ activity: NSUserActivity) {}
}
