/// Something that takes its state from an activity that is continued: a view, a document. Of the main actor, as on Apple's systems;
/// what belongs to no actor adopts `HandoffRestoring`.
@MainActor
public protocol NSUserActivityRestoring: AnyObject {
    /// Takes the state over. Called on the main queue, after the restoration handler was given this object.
    func restoreUserActivityState(_ userActivity: NSUserActivity)
}

/// Something of no actor that takes its state from an activity that is continued.
nonisolated public protocol HandoffRestoring: NSUserActivityRestoring {
    /// Takes the state over. Called on the application's callback queue, after the restoration handler was given this object.
    func restoreUserActivityState(_ userActivity: NSUserActivity)
}
