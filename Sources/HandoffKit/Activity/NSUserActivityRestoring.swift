/// An object that restores its state from a continued activity, such as a view or a document.
/// Isolated to the main actor, as on Apple's systems. A nonisolated object adopts
/// `HandoffRestoring`.
@MainActor
public protocol NSUserActivityRestoring: AnyObject {
    /// Restores the state. Called on the main queue, after this object was passed to the
    /// restoration handler.
    func restoreUserActivityState(_ userActivity: NSUserActivity)
}

/// A nonisolated object that restores its state from a continued activity.
nonisolated public protocol HandoffRestoring: NSUserActivityRestoring {
    /// Restores the state. Called on the application's callback queue, after this object was passed
    /// to the restoration handler.
    func restoreUserActivityState(_ userActivity: NSUserActivity)
}
