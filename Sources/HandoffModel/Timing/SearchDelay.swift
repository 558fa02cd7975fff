/// The delay before the next attempt to reach a device that became unreachable.
///
/// The delay grows with the time for which the device has been unreachable, not with the number of
/// attempts. A short network failure is noticed within seconds, and a device that is off costs one
/// attempt per minute.
package enum SearchDelay {
    /// The delay during the first minutes. An attempt takes at most five seconds, the last two of
    /// them without retransmission. Together with this delay, a device is reached within five
    /// seconds of its return.
    package static let minDelay = Duration.seconds(2)

    /// The maximum delay.
    static let maxDelay = Duration.seconds(60)

    /// The return of a device may be noticed late by this fraction of the time it was unreachable.
    private static let divisor = 120

    /// Returns the delay before the next attempt.
    ///
    /// - Parameter elapsed: the time since the device became unreachable.
    package static func delay(after elapsed: Duration) -> Duration {
        min(max(elapsed / divisor, minDelay), maxDelay)
    }
}
