import HandoffModel
import HandoffProtocol

/// Limits the requests to one device to the number that it accepts, so that none is dropped there.
struct RequestRateLimiter {
    /// A continuation is a request and a notice, and a device accepts 20 of both per second from
    /// another one.
    private var continuations = RateLimit(perSecond: 9)
    /// Slightly below the limit of the other side: requests that were sent evenly may arrive in a
    /// burst.
    private var openings = RateLimit(perSecond: 95, burst: 980)

    /// Counts one more request. Returns true if it may be sent now.
    mutating func admit(_ method: String, at now: MonotonicInstant) -> Bool {
        method == PeerMethod.openStream ? openings.admit(at: now) : continuations.admit(at: now)
    }
}
