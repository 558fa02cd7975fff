import Foundation
import LoopIO

/// A window or another part of the app with a state of its own, which can be continued by itself: the part that `UIScene` has in
/// Handoff. As a responder it may have the activity of what it shows.
///
/// While a scene is the `activeScene` of the application, its delegate is told of continuations instead of the application's.
///
/// It belongs to the main actor, as every `UIResponder`; what this class has itself may be used from any thread.
@MainActor
open class HandoffScene: UIResponder {
    // Set by the initialiser alone.
    private nonisolated(unsafe) weak var storedDelegate: (any UISceneDelegate)?
    private let hasDelegate: Bool
    private let conditions = Locked(UISceneActivationConditions())
    private let activity = Locked<NSUserActivity?>(nil)

    /// A scene that is not active.
    /// - Parameter delegate: who is told; not kept.
    public init(delegate: (any UISceneDelegate)? = nil) {
        storedDelegate = delegate
        hasDelegate = delegate != nil
        super.init(forActor: ())
    }

    /// A scene that is not active, made on any thread.
    /// - Parameter delegate: gets the callbacks; not kept.
    nonisolated public convenience init(delegate: (any HandoffSceneDelegate)?) {
        self.init(onAnyThread: delegate)
    }

    nonisolated init(onAnyThread delegate: (any HandoffSceneDelegate)?) {
        storedDelegate = delegate
        hasDelegate = delegate != nil
        super.init(forActor: ())
    }

    deinit {
        ends(activity.withLock { $0 })
    }

    /// The activity of what the scene shows; see `UIResponder`. A subclass that overrides `updateUserActivityState(_:)` needs a main queue that is
    /// serviced.
    nonisolated open override var userActivity: NSUserActivity? {
        get { activity.withLock { $0 } }
        set {
            let former = activity.withLock { activity in
                defer { activity = newValue }
                return activity
            }
            Responder.mainActor(self).changesActivity(from: former, to: newValue)
        }
    }

    /// For which content the scene is, when it is one of several; see `HandoffApplication.connect(_:)`.
    nonisolated public var activationConditions: UISceneActivationConditions {
        get { conditions.withLock { $0 } }
        set { conditions.withLock { $0 = newValue } }
    }

    /// Who is told; not kept. Set before the scene becomes active.
    nonisolated public var delegate: (any UISceneDelegate)? { storedDelegate }

    /// Whether there was a delegate, which has gone since.
    nonisolated var hasLostDelegate: Bool { hasDelegate && storedDelegate == nil }
}

/// What a scene does with activities that come from other devices. Every method may be left out.
///
/// The methods are called on the main queue, as the main actor, in order: after each `willContinue` exactly one of `continue` and
/// `didFailToContinue`. Follows Apple's protocol of the same name. A delegate of no actor, for another queue, adopts
/// `HandoffSceneDelegate`.
@MainActor
public protocol UISceneDelegate: AnyObject {
    /// The user continues an activity of this type here, and its content is on its way: show that something comes.
    func scene(_ scene: HandoffScene, willContinueUserActivityWithType userActivityType: String)

    /// The activity has arrived. It counts as taken over.
    func scene(_ scene: HandoffScene, continue userActivity: NSUserActivity)

    /// The activity that was announced does not come.
    /// - Parameters:
    ///   - scene: the active scene.
    ///   - userActivityType: the type that was announced.
    ///   - error: of `NSCocoaErrorDomain`, with one of the codes 4608 to 4611 and 3328, and a description that names the cause
    ///     and the device.
    func scene(
        _ scene: HandoffScene, didFailToContinueUserActivityWithType userActivityType: String, error: any Error)

    /// The responders of an activity have updated it: the last chance to add something before it is sent.
    func scene(_ scene: HandoffScene, didUpdate userActivity: NSUserActivity)
}

/// A scene's delegate that belongs to no actor: its methods are called on the application's callback queue, whichever that is.
nonisolated public protocol HandoffSceneDelegate: UISceneDelegate {
    /// The user continues an activity of this type here, and its content is on its way: show that something comes.
    func scene(_ scene: HandoffScene, willContinueUserActivityWithType userActivityType: String)

    /// The activity has arrived. It counts as taken over.
    func scene(_ scene: HandoffScene, continue userActivity: NSUserActivity)

    /// The activity that was announced does not come; see `UISceneDelegate`.
    func scene(
        _ scene: HandoffScene, didFailToContinueUserActivityWithType userActivityType: String, error: any Error)

    /// The responders of an activity have updated it: the last chance to add something before it is sent.
    func scene(_ scene: HandoffScene, didUpdate userActivity: NSUserActivity)
}

extension UISceneDelegate {
    /// Does nothing.
    nonisolated public func scene(_ scene: HandoffScene, willContinueUserActivityWithType userActivityType: String) {}

    /// Does nothing; the activity counts as taken over.
    nonisolated public func scene(_ scene: HandoffScene, continue userActivity: NSUserActivity) {}

    /// Does nothing.
    nonisolated public func scene(
        _ scene: HandoffScene, didFailToContinueUserActivityWithType userActivityType: String, error: any Error
    ) {}

    /// Does nothing.
    nonisolated public func scene(_ scene: HandoffScene, didUpdate userActivity: NSUserActivity) {}
}
