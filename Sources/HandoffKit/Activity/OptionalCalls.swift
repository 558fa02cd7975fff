// On Apple's systems delegate methods are optional, and callers write `delegate?.application?(…)`.
// These properties have the names of the methods, so that such calls compile. Every method has a
// default implementation here, so no property is nil.

extension UIApplicationDelegate {
    /// The methods `application(…)` for an optional call; never nil.
    @MainActor public var application: HandoffApplicationDelegateCalls? {
        HandoffApplicationDelegateCalls(delegate: self)
    }
}

/// Calls the methods `application(…)` of a delegate.
@MainActor
public struct HandoffApplicationDelegateCalls {
    let delegate: any UIApplicationDelegate

    /// Calls `application(_:willContinueUserActivityWithType:)`.
    @discardableResult
    public func callAsFunction(
        _ application: HandoffApplication, willContinueUserActivityWithType userActivityType: String
    ) -> Bool {
        delegate.application(application, willContinueUserActivityWithType: userActivityType)
    }

    /// Calls `application(_:continue:restorationHandler:)`.
    @discardableResult
    public func callAsFunction(
        _ application: HandoffApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any NSUserActivityRestoring]?) -> Void
    ) -> Bool {
        delegate.application(application, continue: userActivity, restorationHandler: restorationHandler)
    }

    /// Calls `application(_:continue:restorationHandler:)` with AppKit's form of the handler.
    @_disfavoredOverload
    @discardableResult
    public func callAsFunction(
        _ application: HandoffApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any NSUserActivityRestoring]) -> Void
    ) -> Bool {
        let handler: ([any NSUserActivityRestoring]?) -> Void = { restorationHandler($0 ?? []) }
        return delegate.application(application, continue: userActivity, restorationHandler: handler)
    }

    /// Calls `application(_:didFailToContinueUserActivityWithType:error:)`.
    public func callAsFunction(
        _ application: HandoffApplication, didFailToContinueUserActivityWithType userActivityType: String,
        error: any Error
    ) {
        delegate.application(application, didFailToContinueUserActivityWithType: userActivityType, error: error)
    }

    /// Calls `application(_:didUpdate:)`.
    public func callAsFunction(_ application: HandoffApplication, didUpdate userActivity: NSUserActivity) {
        delegate.application(application, didUpdate: userActivity)
    }
}

extension UISceneDelegate {
    /// The methods `scene(…)` for an optional call; never nil.
    @MainActor public var scene: HandoffSceneDelegateCalls? { HandoffSceneDelegateCalls(delegate: self) }
}

/// Calls the methods `scene(…)` of a scene's delegate.
@MainActor
public struct HandoffSceneDelegateCalls {
    let delegate: any UISceneDelegate

    /// Calls `scene(_:willContinueUserActivityWithType:)`.
    public func callAsFunction(_ scene: HandoffScene, willContinueUserActivityWithType userActivityType: String) {
        delegate.scene(scene, willContinueUserActivityWithType: userActivityType)
    }

    /// Calls `scene(_:continue:)`.
    public func callAsFunction(_ scene: HandoffScene, continue userActivity: NSUserActivity) {
        delegate.scene(scene, continue: userActivity)
    }

    /// Calls `scene(_:didFailToContinueUserActivityWithType:error:)`.
    public func callAsFunction(
        _ scene: HandoffScene, didFailToContinueUserActivityWithType userActivityType: String, error: any Error
    ) {
        delegate.scene(scene, didFailToContinueUserActivityWithType: userActivityType, error: error)
    }

    /// Calls `scene(_:didUpdate:)`.
    public func callAsFunction(_ scene: HandoffScene, didUpdate userActivity: NSUserActivity) {
        delegate.scene(scene, didUpdate: userActivity)
    }
}

extension NSUserActivityDelegate {
    /// The method `userActivityWillSave(_:)` for an optional call; never nil.
    @MainActor public var userActivityWillSave: ((_ userActivity: NSUserActivity) -> Void)? {
        { self.userActivityWillSave($0) }
    }

    /// The method `userActivityWasContinued(_:)` for an optional call; never nil.
    @MainActor public var userActivityWasContinued: ((_ userActivity: NSUserActivity) -> Void)? {
        { self.userActivityWasContinued($0) }
    }
}
