/// What an app does with activities that come from other devices. Every method may be left out.
///
/// The methods are called on the main queue, as the main actor, in order: after each `willContinue` exactly one of `continue` and
/// `didFailToContinue`, whatever happens. Follows Apple's protocols `UIApplicationDelegate` and `NSApplicationDelegate`, in Swift 5, in
/// Swift 6, and with the main actor by default. A delegate of no actor, for another queue, adopts `HandoffApplicationDelegate`.
@MainActor
public protocol UIApplicationDelegate: AnyObject {
    /// The user continues an activity of this type here, and its content is on its way: show that something comes.
    /// - Returns: whether the app shows it. Linux has nothing of its own to show instead.
    func application(
        _ application: HandoffApplication, willContinueUserActivityWithType userActivityType: String
    ) -> Bool

    /// The activity has arrived.
    /// - Parameters:
    ///   - application: who the app is.
    ///   - userActivity: the activity, with its `userInfo`.
    ///   - restorationHandler: may be called with the objects that take the state over, which then get
    ///     `restoreUserActivityState`: once, now or later, on any thread.
    /// - Returns: whether the app has taken the activity over. With false the other device is told that nobody did.
    func application(
        _ application: HandoffApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any NSUserActivityRestoring]?) -> Void
    ) -> Bool

    /// The same in AppKit's form, for apps that have it; called where the form above is left out.
    func application(
        _ application: HandoffApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any NSUserActivityRestoring]) -> Void
    ) -> Bool

    /// The activity that was announced does not come.
    /// - Parameters:
    ///   - application: who the app is.
    ///   - userActivityType: the type that was announced.
    ///   - error: of `NSCocoaErrorDomain`, with one of the codes 4608 to 4611 and 3328, and a description that names the cause
    ///     and the device.
    func application(
        _ application: HandoffApplication, didFailToContinueUserActivityWithType userActivityType: String,
        error: any Error)

    /// The responders of an activity have updated it: the last chance to add something before it is sent.
    func application(_ application: HandoffApplication, didUpdate userActivity: NSUserActivity)
}

/// A delegate of the application that belongs to no actor: its methods are called on the application's callback queue, whichever
/// that is.
nonisolated public protocol HandoffApplicationDelegate: UIApplicationDelegate {
    /// The user continues an activity of this type here; see `UIApplicationDelegate`.
    func application(
        _ application: HandoffApplication, willContinueUserActivityWithType userActivityType: String
    ) -> Bool

    /// The activity has arrived; see `UIApplicationDelegate`.
    func application(
        _ application: HandoffApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any NSUserActivityRestoring]?) -> Void
    ) -> Bool

    /// The same in AppKit's form, for apps that have it; called where the form above is left out.
    func application(
        _ application: HandoffApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any NSUserActivityRestoring]) -> Void
    ) -> Bool

    /// The activity that was announced does not come; see `UIApplicationDelegate`.
    func application(
        _ application: HandoffApplication, didFailToContinueUserActivityWithType userActivityType: String,
        error: any Error)

    /// The responders of an activity have updated it: the last chance to add something before it is sent.
    func application(_ application: HandoffApplication, didUpdate userActivity: NSUserActivity)
}

extension UIApplicationDelegate {
    /// Shows nothing.
    nonisolated public func application(
        _ application: HandoffApplication, willContinueUserActivityWithType userActivityType: String
    ) -> Bool {
        false
    }

    /// Asks AppKit's form.
    public func application(
        _ application: HandoffApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any NSUserActivityRestoring]?) -> Void
    ) -> Bool {
        let handler: ([any NSUserActivityRestoring]) -> Void = { restorationHandler($0) }
        return self.application(application, continue: userActivity, restorationHandler: handler)
    }

    /// Does not take the activity.
    nonisolated public func application(
        _ application: HandoffApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any NSUserActivityRestoring]) -> Void
    ) -> Bool {
        false
    }

    /// Does nothing.
    nonisolated public func application(
        _ application: HandoffApplication, didFailToContinueUserActivityWithType userActivityType: String,
        error: any Error
    ) {}

    /// Does nothing.
    nonisolated public func application(_ application: HandoffApplication, didUpdate userActivity: NSUserActivity) {}
}

extension HandoffApplicationDelegate {
    /// Asks AppKit's form.
    public func application(
        _ application: HandoffApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any NSUserActivityRestoring]?) -> Void
    ) -> Bool {
        let handler: ([any NSUserActivityRestoring]) -> Void = { restorationHandler($0) }
        return self.application(application, continue: userActivity, restorationHandler: handler)
    }
}
