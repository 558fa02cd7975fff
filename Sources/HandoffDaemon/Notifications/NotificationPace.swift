package import LoopIO

/// How often the notification of one device may change: a few times in quick succession, and then seldom. Plain values.
///
/// Someone who walks through documents on the other device, or an app gone mad there, must not keep this screen busy.
package struct NotificationPace: Sendable {
    /// The least time between two changes.
    static let gap = Duration.seconds(1)
    /// In the long run there is one change in this time.
    static let interval = Duration.seconds(10)
    /// Changes that may have been saved up.
    static let burst = 5

    /// Not before this moment.
    package private(set) var next = LoopInstant(nanoseconds: 0)
    /// When all changes will be saved up again.
    private var rested = LoopInstant(nanoseconds: 0)

    /// A pace that allows a change at once.
    package init() {}

    /// Whether all that happened is forgotten.
    package func hasRested(at now: LoopInstant) -> Bool { now >= rested && now >= next }

    /// A change was made.
    package mutating func changed(at now: LoopInstant) {
        rested = max(rested, now) + Self.interval
        next = max(now + Self.gap, rested + Self.interval * -(Self.burst - 1))
    }
}
