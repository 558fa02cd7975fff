/// The methods that receive activities from other devices. All of them are optional.
///
/// They are called in order on the main queue, isolated to the main actor. Each `willContinue` is
/// always followed by exactly one `continue` or `didFailToContinue`. Follows Apple's protocols
/// `UIApplicationDelegate` and `NSApplicationDelegate`, in Swift 5, in Swift 6, and with the main
/// actor as the default isolation. A nonisolated delegate, for another queue, adopts
/// `HandoffApplicationDelegate`.
@MainActor
public protocol UIApplicationDelegate: AnyObject {
    /// The user continues an activity of this type here, and its content is being sent. Show a
    /// progress indication.
    /// - Returns: whether the app shows one. The system itself shows none on Linux.
    func application(
        _ application: HandoffApplication, willContinueUserActivityWithType userActivityType: String
    ) -> Bool

    /// The activity has arrived.
    /// - Parameters:
    ///   - application: the application.
    ///   - userActivity: the activity, with its `userInfo`.
    ///   - restorationHandler: may be called, once, with objects that restore the state. Their
    ///     `restoreUserActivityState` is then called. The handler may be called at any time, on any
    ///     thread.
    /// - Returns: whether the app has handled the activity. With false, the other device is
    ///   notified that it was not continued.
    func application(
        _ application: HandoffApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any NSUserActivityRestoring]?) -> Void
    ) -> Bool

    /// AppKit's form of the same method. Called if the form above is not implemented.
    func application(
        _ application: HandoffApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any NSUserActivityRestoring]) -> Void
    ) -> Bool

    /// The announced activity failed to arrive.
    /// - Parameters:
    ///   - application: the application.
    ///   - userActivityType: the announced type.
    ///   - error: an error in `NSCocoaErrorDomain`, with one of the codes 4608 to 4611 and 3328,
    ///     and a description that names the cause and the device.
    func application(
        _ application: HandoffApplication, didFailToContinueUserActivityWithType userActivityType: String,
        error: any Error)

    /// The responders of an activity have updated it. Last chance to add something before it is
    /// sent.
    func application(_ application: HandoffApplication, didUpdate userActivity: NSUserActivity)
}

/// A nonisolated application delegate. Its methods are called on the application's callback queue.
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

    /// AppKit's form of the same method. Called if the form above is not implemented.
    func application(
        _ application: HandoffApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any NSUserActivityRestoring]) -> Void
    ) -> Bool

    /// The announced activity failed to arrive; see `UIApplicationDelegate`.
    func application(
        _ application: HandoffApplication, didFailToContinueUserActivityWithType userActivityType: String,
        error: any Error)

    /// The responders of an activity have updated it. Last chance to add something before it is
    /// sent.
    func application(_ application: HandoffApplication, didUpdate userActivity: NSUserActivity)
}

extension UIApplicationDelegate {
    /// Returns false.
    nonisolated public func application(
        _ application: HandoffApplication, willContinueUserActivityWithType userActivityType: String
    ) -> Bool {
        false
    }

    /// Calls AppKit's form.
    public func application(
        _ application: HandoffApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any NSUserActivityRestoring]?) -> Void
    ) -> Bool {
        let handler: ([any NSUserActivityRestoring]) -> Void = { restorationHandler($0) }
        return self.application(application, continue: userActivity, restorationHandler: handler)
    }

    /// Returns false: the activity is not handled.
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
    /// Calls AppKit's form.
    public func application(
        _ application: HandoffApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any NSUserActivityRestoring]?) -> Void
    ) -> Bool {
        let handler: ([any NSUserActivityRestoring]) -> Void = { restorationHandler($0) }
        return self.application(application, continue: userActivity, restorationHandler: handler)
    }
}
