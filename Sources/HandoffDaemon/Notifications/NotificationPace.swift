package import LoopIO

/// How often the screen may change: a few times in quick succession, and then seldom. Plain values.
///
/// Someone who walks through documents on the other device, or an app gone mad there, must not keep this screen busy.
package struct NotificationPace: Sendable {
    /// The least time between two changes of the notification of one device.
    static let gap = Duration.seconds(1)

    private let gap: Duration
    private let interval: Duration
    private let burst: Int
    /// Not before this moment.
    package private(set) var next = LoopInstant(nanoseconds: 0)
    /// When all changes will be saved up again.
    private var rested = LoopInstant(nanoseconds: 0)

    private init(gap: Duration, interval: Duration, burst: Int) {
        self.gap = gap
        self.interval = interval
        self.burst = burst
    }

    /// The pace of one device, which allows a change at once: five in quick succession, in the long run one in ten seconds.
    package static var ofDevice: NotificationPace { NotificationPace(gap: gap, interval: .seconds(10), burst: 5) }

    /// The pace of the whole screen: one member can let in hundreds of devices.
    package static var ofScreen: NotificationPace { NotificationPace(gap: .zero, interval: .seconds(5), burst: 16) }

    /// Whether all that happened is forgotten.
    package func hasRested(at now: LoopInstant) -> Bool { now >= rested && now >= next }

    /// A change was made.
    package mutating func changed(at now: LoopInstant) {
        rested = max(rested, now) + interval
        next = max(now + gap, rested + interval * -(burst - 1))
    }
}
