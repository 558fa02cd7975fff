import LoopIO
package import Timing

/// How often the screen may change: a few times in quick succession, and then seldom. Plain values.
///
/// Someone who walks through documents on the other device, or an app gone mad there, must not keep this screen busy.
package struct NotificationRateLimiter: Sendable {
    /// The least time between two changes of the notification of one device.
    static let gap = Duration.seconds(1)

    private let gap: Duration
    private var rate: RateLimit
    /// When the last change allows another one.
    private var rested = MonotonicInstant(nanoseconds: 0)

    private init(gap: Duration, rate: RateLimit) {
        self.gap = gap
        self.rate = rate
    }

    /// The pace of one device, which allows a change at once: five in quick succession, in the long run one in ten seconds.
    package static var ofDevice: NotificationRateLimiter {
        NotificationRateLimiter(gap: gap, rate: RateLimit(every: .seconds(10), burst: 5))
    }

    /// The pace of the whole screen: one member can let in hundreds of devices.
    package static var ofScreen: NotificationRateLimiter {
        NotificationRateLimiter(gap: .zero, rate: RateLimit(every: .seconds(5), burst: 16))
    }

    /// Not before this moment.
    package var next: MonotonicInstant { max(rested, rate.next) }

    /// Whether all that happened is forgotten.
    package func hasRested(at now: MonotonicInstant) -> Bool { rate.isRested(at: now) && now >= rested }

    /// A change was made.
    package mutating func changed(at now: MonotonicInstant) {
        rate.count(at: now)
        rested = now + gap
    }
}
