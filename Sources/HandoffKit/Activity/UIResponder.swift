public import Foundation

/// What shows something that the user does, and keeps the activity for it, in an app whose views belong to the main actor: the part
/// that Apple's class of this name has in Handoff. A view class of any toolkit inherits from it, in Swift 5, in Swift 6, and with the
/// main actor by default. One that belongs to no actor inherits from `HandoffResponder`.
@MainActor
open class UIResponder: HandoffObject, NSUserActivityRestoring {
    private var stored: NSUserActivity?

    /// A responder without an activity.
    public init() {
        super.init(forActor: ())
    }

    nonisolated override init(forActor: Void) {
        super.init(forActor: forActor)
    }

    deinit {
        ends(stored)
    }

    /// The responder ends, and its activity with the last one: nothing can bring it up to date any more.
    nonisolated func ends(_ activity: NSUserActivity?) {
        guard let activity, activity.remove(ObjectIdentifier(self)) else { return }
        activity.invalidate()
    }

    /// The activity that this shows. Setting it makes the activity current; setting nil ends the engagement of the former one
    /// unless another responder shares it. When the last responder of an activity is released, the activity ends.
    open var userActivity: NSUserActivity? {
        get { stored }
        set {
            let former = stored
            stored = newValue
            Responder.mainActor(self).changesActivity(from: former, to: newValue)
        }
    }

    /// Writes the state into the activity, by `addUserInfoEntries(from:)`: called before each save, on the main queue, with
    /// an empty `userInfo`, to which all responders of the activity add in turn. Where none of them writes to it, its former content stays.
    /// Does nothing unless overridden.
    open func updateUserActivityState(_ activity: NSUserActivity) {}

    /// Takes the state from an activity that is continued. Does nothing unless overridden.
    open func restoreUserActivityState(_ activity: NSUserActivity) {}
}

/// An object of Foundation whose subclasses may say to which actor their initialiser belongs.
///
/// That of `NSObject` belongs to none, and an override would have to agree; here it is inherited no more.
open class HandoffObject: NSObject {
    init(forActor: Void) {
        super.init()
    }
}
