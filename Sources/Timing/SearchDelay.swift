/// How long to wait before the next attempt to reach a device that became unreachable.
///
/// The wait grows with the time for which the device has been unreachable, not with the number of attempts: a short failure of
/// the network is noticed within seconds, and a device that is off costs an attempt a minute.
package enum SearchDelay {
    /// The wait during the first minutes. With the five seconds that a call takes at most, of which the last two have no
    /// retransmission, a device is reached within five seconds.
    package static let shortest = Duration.seconds(2)

    /// The longest wait.
    package static let longest = Duration.seconds(60)

    /// The part of the time without the device by which its return may be noticed late.
    private static let divisor = 120

    /// The wait before the next attempt.
    ///
    /// - Parameter elapsed: the time since the device became unreachable.
    package static func delay(after elapsed: Duration) -> Duration {
        min(max(elapsed / divisor, shortest), longest)
    }
}
