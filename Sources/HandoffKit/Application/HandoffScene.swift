/// A window or another part of the app with a state of its own, which can be continued by itself: the part that `UIScene` has in
/// Handoff. As a responder it may have the activity of what it shows.
///
/// While a scene is the `activeScene` of the application, its delegate is told of continuations instead of the application's.
///
/// Unchecked Sendable is for subclasses to say; this class may be called from any thread.
open class HandoffScene: HandoffResponder {
    private weak var storedDelegate: (any HandoffSceneDelegate)?

    /// A scene that is not active.
    /// - Parameter delegate: who is told; not kept.
    public init(delegate: (any HandoffSceneDelegate)? = nil) {
        storedDelegate = delegate
        super.init()
    }

    /// Who is told; not kept. Set before the scene becomes active.
    public var delegate: (any HandoffSceneDelegate)? { storedDelegate }
}

/// What a scene does with activities that come from other devices. Every method may be left out.
///
/// The methods are called on the application's callback queue, by default the main queue, in order: after each
/// `willContinue` exactly one of `continue` and `didFailToContinue`. Follows `UISceneDelegate`.
public protocol HandoffSceneDelegate: AnyObject {
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

extension HandoffSceneDelegate {
    /// Does nothing.
    public func scene(_ scene: HandoffScene, willContinueUserActivityWithType userActivityType: String) {}

    /// Does nothing; the activity counts as taken over.
    public func scene(_ scene: HandoffScene, continue userActivity: NSUserActivity) {}

    /// Does nothing.
    public func scene(
        _ scene: HandoffScene, didFailToContinueUserActivityWithType userActivityType: String, error: any Error
    ) {}

    /// Does nothing.
    public func scene(_ scene: HandoffScene, didUpdate userActivity: NSUserActivity) {}
}
