import HandoffModel
import LoopIO

/// Limits how often the screen may change: a few times in quick succession, then rarely. Plain
/// values.
///
/// Quickly changing offers, or a malfunctioning app on another device, must not keep this screen
/// busy.
struct NotificationRateLimiter: Sendable {
    /// The minimum time between two changes of a device's notification.
    static let gap = Duration.seconds(1)

    private let gap: Duration
    private var rate: RateLimit
    /// The earliest time for a change after the last one.
    private(set) var rested = MonotonicInstant(nanoseconds: 0)

    private init(gap: Duration, rate: RateLimit) {
        self.gap = gap
        self.rate = rate
    }

    /// The limits for one device: an immediate change, five in quick succession, one per ten
    /// seconds on average.
    static var ofDevice: NotificationRateLimiter {
        NotificationRateLimiter(gap: gap, rate: RateLimit(every: .seconds(10), burst: 5))
    }

    /// The limits for the whole screen, because a member can admit hundreds of devices.
    static var ofScreen: NotificationRateLimiter {
        NotificationRateLimiter(gap: .zero, rate: RateLimit(every: .seconds(5), burst: 16))
    }

    /// The earliest time for the next change.
    var next: MonotonicInstant { max(rested, rate.next) }

    /// True if earlier changes no longer have an effect.
    func hasRested(at now: MonotonicInstant) -> Bool { rate.isIdle(at: now) && now >= rested }

    /// Records a change.
    ///
    /// - Parameter isUpdate: True for a new progress of the same files, which only has to keep the
    ///   minimum time.
    mutating func changed(at now: MonotonicInstant, isUpdate: Bool = false) {
        if !isUpdate { rate.count(at: now) }
        rested = now + gap
    }
}
