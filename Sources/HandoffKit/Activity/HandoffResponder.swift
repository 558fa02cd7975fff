public import Foundation

/// An object that presents a user activity and keeps it up to date, in an app with nonisolated
/// views. A view class of any toolkit inherits from it, or has one as a member. A main-actor class
/// inherits from `UIResponder`.
///
/// The class may be called from any thread. Subclasses decide whether to declare
/// `@unchecked Sendable`.
nonisolated open class HandoffResponder: NSObject, HandoffRestoring {
    private let lock = NSLock()
    private var stored: NSUserActivity?

    /// Creates a responder without an activity.
    public override init() {
        super.init()
    }

    deinit {
        // Nothing can bring the activity up to date any more.
        guard let activity = stored, activity.remove(ObjectIdentifier(self)) else { return }
        activity.invalidate()
    }

    /// The activity that this responder presents. Setting it makes the activity current. Setting
    /// nil makes the former activity resign unless another responder shares it. When the last
    /// responder of an activity is released, the activity ends.
    open var userActivity: NSUserActivity? {
        get { lock.withLock { stored } }
        set {
            let former = lock.withLock {
                defer { stored = newValue }
                return stored
            }
            Responder.free(self).replaceActivity(from: former, to: newValue)
        }
    }

    /// Writes the state into the activity with `addUserInfoEntries(from:)`. Called before each
    /// save, on the callback queue, with an empty `userInfo`, to which all responders of the
    /// activity add in turn. If none of them writes to it, the former contents are restored. Does
    /// nothing by default.
    open func updateUserActivityState(_ activity: NSUserActivity) {}

    /// Restores the state from a continued activity. Does nothing by default.
    open func restoreUserActivityState(_ activity: NSUserActivity) {}
}
