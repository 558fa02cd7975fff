public import Foundation

/// An object that presents a user activity and keeps it up to date, in an app with main-actor
/// views. This is the Handoff part of Apple's class of the same name. A view class of any toolkit
/// inherits from it, in Swift 5, in Swift 6, and with the main actor as the default isolation. A
/// nonisolated class inherits from `HandoffResponder`.
@MainActor
open class UIResponder: HandoffObject, NSUserActivityRestoring {
    private var stored: NSUserActivity?

    /// Creates a responder without an activity.
    public init() {
        super.init(forActor: ())
    }

    nonisolated override init(forActor: Void) {
        super.init(forActor: forActor)
    }

    deinit {
        releaseActivity(stored)
    }

    /// Removes the responder from its activity, and ends the activity with its last responder:
    /// nothing can bring it up to date any more.
    nonisolated func releaseActivity(_ activity: NSUserActivity?) {
        guard let activity, activity.remove(ObjectIdentifier(self)) else { return }
        activity.invalidate()
    }

    /// The activity that this responder presents. Setting it makes the activity current. Setting
    /// nil makes the former activity resign unless another responder shares it. When the last
    /// responder of an activity is released, the activity ends.
    open var userActivity: NSUserActivity? {
        get { stored }
        set {
            let former = stored
            stored = newValue
            Responder.mainActor(self).replaceActivity(from: former, to: newValue)
        }
    }

    /// Writes the state into the activity with `addUserInfoEntries(from:)`. Called before each
    /// save, on the main queue, with an empty `userInfo`, to which all responders of the activity
    /// add in turn. If none of them writes to it, the former contents are restored. Does nothing by
    /// default.
    open func updateUserActivityState(_ activity: NSUserActivity) {}

    /// Restores the state from a continued activity. Does nothing by default.
    open func restoreUserActivityState(_ activity: NSUserActivity) {}
}

/// A Foundation object whose subclasses may choose the actor isolation of their initializer.
///
/// The initializer of `NSObject` is nonisolated, and an override would have to match it.
/// Subclasses of this class do not inherit it.
open class HandoffObject: NSObject {
    init(forActor: Void) {
        super.init()
    }
}
