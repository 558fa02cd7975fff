public import Foundation

/// What an activity tells its owner. Every method may be left out.
///
/// The methods are called on the main queue, as the main actor, in order; one that is `nonisolated` will do as well. Follows Apple's
/// protocol of the same name. A delegate of no actor, for another queue, adopts `HandoffActivityDelegate`.
public protocol NSUserActivityDelegate: AnyObject {
    /// The activity is about to be saved: bring its `userInfo` up to date. `needsSave` has been cleared.
    @MainActor func userActivityWillSave(_ userActivity: NSUserActivity)

    /// Another device has continued the activity.
    @MainActor func userActivityWasContinued(_ userActivity: NSUserActivity)

    /// The app on the other device asks for a stream. Neither of the two is open: open both at once. Called only while
    /// `supportsContinuationStreams` is set; each call is another pair.
    /// - Parameters:
    ///   - userActivity: the activity.
    ///   - inputStream: what the other app sends; a `HandoffInputStream`.
    ///   - outputStream: what is sent to it; a `HandoffOutputStream`.
    @MainActor func userActivity(
        _ userActivity: NSUserActivity, didReceive inputStream: InputStream, outputStream: OutputStream)
}

/// A delegate of an activity that belongs to no actor: its methods are called on the callback queue of the activity's
/// `HandoffApplication`, whichever that is.
nonisolated public protocol HandoffActivityDelegate: NSUserActivityDelegate {
    /// The activity is about to be saved: bring its `userInfo` up to date. `needsSave` has been cleared.
    nonisolated func userActivityWillSave(_ userActivity: NSUserActivity)

    /// Another device has continued the activity.
    nonisolated func userActivityWasContinued(_ userActivity: NSUserActivity)

    /// The app on the other device asks for a stream; see `NSUserActivityDelegate`.
    nonisolated func userActivity(
        _ userActivity: NSUserActivity, didReceive inputStream: InputStream, outputStream: OutputStream)
}

extension NSUserActivityDelegate {
    /// Does nothing.
    public func userActivityWillSave(_ userActivity: NSUserActivity) {}

    /// Does nothing.
    public func userActivityWasContinued(_ userActivity: NSUserActivity) {}

    /// Closes both, so that the other app is told at once.
    public func userActivity(
        _ userActivity: NSUserActivity, didReceive inputStream: InputStream, outputStream: OutputStream
    ) {
        inputStream.close()
        outputStream.close()
    }
}
