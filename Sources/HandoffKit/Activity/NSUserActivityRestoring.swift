/// Something that takes its state from an activity that is continued: a view, a document.
public protocol NSUserActivityRestoring: AnyObject {
    /// Takes the state over. Called on the callback queue, after the restoration handler was given this object.
    func restoreUserActivityState(_ userActivity: NSUserActivity)
}
