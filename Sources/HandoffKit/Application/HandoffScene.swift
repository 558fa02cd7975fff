import Foundation
import LoopIO

/// A window or another part of the app with its own state, which can be continued separately. It
/// provides the Handoff part of `UIScene`. As a responder, it may have the activity of its content.
///
/// While a scene is the `activeScene` of the application, its delegate receives continuations in
/// place of the application's.
///
/// It is isolated to the main actor, like every `UIResponder`. The members declared here may be
/// used from any thread.
@MainActor
open class HandoffScene: UIResponder {
    // Only set by the initializer.
    private nonisolated(unsafe) weak var storedDelegate: (any UISceneDelegate)?
    private let hasDelegate: Bool
    private let conditions = Locked(UISceneActivationConditions())
    private let activity = Locked<NSUserActivity?>(nil)

    /// Creates an inactive scene.
    /// - Parameter delegate: the delegate; a weak reference.
    public init(delegate: (any UISceneDelegate)? = nil) {
        storedDelegate = delegate
        hasDelegate = delegate != nil
        super.init(forActor: ())
    }

    /// Creates an inactive scene on any thread.
    /// - Parameter delegate: the delegate; a weak reference.
    nonisolated public convenience init(delegate: (any HandoffSceneDelegate)?) {
        self.init(onAnyThread: delegate)
    }

    nonisolated init(onAnyThread delegate: (any HandoffSceneDelegate)?) {
        storedDelegate = delegate
        hasDelegate = delegate != nil
        super.init(forActor: ())
    }

    deinit {
        releaseActivity(activity.withLock { $0 })
    }

    /// The activity of the scene's content; see `UIResponder`. A subclass that overrides
    /// `updateUserActivityState(_:)` needs a main queue that is serviced.
    nonisolated open override var userActivity: NSUserActivity? {
        get { activity.withLock { $0 } }
        set {
            let former = activity.withLock { activity in
                defer { activity = newValue }
                return activity
            }
            Responder.mainActor(self).replaceActivity(from: former, to: newValue)
        }
    }

    /// The content that the scene accepts, if it is one of several; see
    /// `HandoffApplication.connect(_:)`.
    nonisolated public var activationConditions: UISceneActivationConditions {
        get { conditions.withLock { $0 } }
        set { conditions.withLock { $0 = newValue } }
    }

    /// The delegate; a weak reference. It is set before the scene becomes active.
    nonisolated public var delegate: (any UISceneDelegate)? { storedDelegate }

    /// True if there was a delegate that has since been released.
    nonisolated var hasLostDelegate: Bool { hasDelegate && storedDelegate == nil }
}

/// The methods with which a scene receives activities from other devices. All of them are optional.
///
/// They are called in order on the main queue, isolated to the main actor. Each `willContinue` is
/// followed by exactly one `continue` or `didFailToContinue`. Follows Apple's protocol of the same
/// name. A nonisolated delegate, for another queue, adopts `HandoffSceneDelegate`.
@MainActor
public protocol UISceneDelegate: AnyObject {
    /// The user continues an activity of this type here, and its content is being sent. Show a
    /// progress indication.
    func scene(_ scene: HandoffScene, willContinueUserActivityWithType userActivityType: String)

    /// The activity has arrived. It counts as handled.
    func scene(_ scene: HandoffScene, continue userActivity: NSUserActivity)

    /// The announced activity failed to arrive.
    /// - Parameters:
    ///   - scene: the active scene.
    ///   - userActivityType: the announced type.
    ///   - error: an error in `NSCocoaErrorDomain`, with one of the codes 4608 to 4611 and 3328,
    ///     and a description that names the cause and the device.
    func scene(
        _ scene: HandoffScene, didFailToContinueUserActivityWithType userActivityType: String, error: any Error)

    /// The responders of an activity have updated it. Last chance to add something before it is
    /// sent.
    func scene(_ scene: HandoffScene, didUpdate userActivity: NSUserActivity)
}

/// A nonisolated scene delegate. Its methods are called on the application's callback queue.
nonisolated public protocol HandoffSceneDelegate: UISceneDelegate {
    /// The user continues an activity of this type here, and its content is being sent. Show a
    /// progress indication.
    func scene(_ scene: HandoffScene, willContinueUserActivityWithType userActivityType: String)

    /// The activity has arrived. It counts as handled.
    func scene(_ scene: HandoffScene, continue userActivity: NSUserActivity)

    /// The announced activity failed to arrive; see `UISceneDelegate`.
    func scene(
        _ scene: HandoffScene, didFailToContinueUserActivityWithType userActivityType: String, error: any Error)

    /// The responders of an activity have updated it. Last chance to add something before it is
    /// sent.
    func scene(_ scene: HandoffScene, didUpdate userActivity: NSUserActivity)
}

extension UISceneDelegate {
    /// Does nothing.
    nonisolated public func scene(_ scene: HandoffScene, willContinueUserActivityWithType userActivityType: String) {}

    /// Does nothing. The activity counts as handled.
    nonisolated public func scene(_ scene: HandoffScene, continue userActivity: NSUserActivity) {}

    /// Does nothing.
    nonisolated public func scene(
        _ scene: HandoffScene, didFailToContinueUserActivityWithType userActivityType: String, error: any Error
    ) {}

    /// Does nothing.
    nonisolated public func scene(_ scene: HandoffScene, didUpdate userActivity: NSUserActivity) {}
}
