import HandoffProtocol
import Timing

/// How often this device asks another one, so that nothing that it asks is above what the other takes, and dropped there.
struct RequestRateLimiter {
    /// A continuation is a request and a notice, and a device takes 20 of both a second from another.
    private var continuations = RateLimit(perSecond: 9)
    /// A little less than the other side takes: what was sent evenly may arrive in a crowd.
    private var openings = RateLimit(perSecond: 95, burst: 980)

    /// Whether one more question may be asked now; counts it.
    mutating func admit(_ method: String, at now: MonotonicInstant) -> Bool {
        method == PeerMethod.openStream ? openings.admit(at: now) : continuations.admit(at: now)
    }
}
