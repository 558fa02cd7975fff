public import Foundation

/// The methods that an activity calls on its delegate. All of them are optional.
///
/// They are called in order on the main queue, isolated to the main actor. An implementation may
/// also be `nonisolated`. Follows Apple's protocol of the same name. A nonisolated delegate, for
/// another queue, adopts `HandoffActivityDelegate`.
public protocol NSUserActivityDelegate: AnyObject {
    /// Called before the activity is saved: bring its `userInfo` up to date. `needsSave` has been
    /// cleared.
    @MainActor func userActivityWillSave(_ userActivity: NSUserActivity)

    /// Another device has continued the activity.
    @MainActor func userActivityWasContinued(_ userActivity: NSUserActivity)

    /// Another device has continued the activity. Called in place of `userActivityWasContinued(_:)`,
    /// which the default implementation calls. Apple's protocol lacks it.
    /// - Parameters:
    ///   - userActivity: the activity.
    ///   - deviceName: the name of the other device, as its user chose it. Escape it before you show it
    ///     where control characters have an effect.
    ///   - date: when it did so. Earlier than now if this device was asleep or off at that time.
    @MainActor func userActivity(_ userActivity: NSUserActivity, wasContinuedOn deviceName: String, at date: Date)

    /// The app on the other device requests a stream. Neither direction is open: open both without
    /// delay. Called only while `supportsContinuationStreams` is set. Each call passes a new pair.
    /// - Parameters:
    ///   - userActivity: the activity.
    ///   - inputStream: the data from the other app; a `HandoffInputStream`.
    ///   - outputStream: the data for the other app; a `HandoffOutputStream`.
    @MainActor func userActivity(
        _ userActivity: NSUserActivity, didReceive inputStream: InputStream, outputStream: OutputStream)
}

/// A nonisolated activity delegate. Its methods are called on the callback queue of the activity's
/// `HandoffApplication`.
nonisolated public protocol HandoffActivityDelegate: NSUserActivityDelegate {
    /// Called before the activity is saved: bring its `userInfo` up to date. `needsSave` has been
    /// cleared.
    nonisolated func userActivityWillSave(_ userActivity: NSUserActivity)

    /// Another device has continued the activity.
    nonisolated func userActivityWasContinued(_ userActivity: NSUserActivity)

    /// Another device has continued the activity, at `date`; see `NSUserActivityDelegate`.
    nonisolated func userActivity(_ userActivity: NSUserActivity, wasContinuedOn deviceName: String, at date: Date)

    /// The app on the other device requests a stream; see `NSUserActivityDelegate`.
    nonisolated func userActivity(
        _ userActivity: NSUserActivity, didReceive inputStream: InputStream, outputStream: OutputStream)
}

extension NSUserActivityDelegate {
    /// Does nothing.
    public func userActivityWillSave(_ userActivity: NSUserActivity) {}

    /// Does nothing.
    public func userActivityWasContinued(_ userActivity: NSUserActivity) {}

    /// Calls `userActivityWasContinued(_:)`.
    @MainActor public func userActivity(
        _ userActivity: NSUserActivity, wasContinuedOn deviceName: String, at date: Date
    ) {
        userActivityWasContinued(userActivity)
    }

    /// Closes both directions, so that the other app learns of it immediately.
    public func userActivity(
        _ userActivity: NSUserActivity, didReceive inputStream: InputStream, outputStream: OutputStream
    ) {
        inputStream.close()
        outputStream.close()
    }
}

extension HandoffActivityDelegate {
    /// Calls `userActivityWasContinued(_:)`.
    public nonisolated func userActivity(
        _ userActivity: NSUserActivity, wasContinuedOn deviceName: String, at date: Date
    ) {
        userActivityWasContinued(userActivity)
    }
}
