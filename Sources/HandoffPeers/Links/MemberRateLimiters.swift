package import HandoffModel
package import HandoffProtocol
package import Timing

/// What each member may still do, over its datagrams and all its connections together. Lives on the daemon's loop.
///
/// All who are no members share one budget: whoever holds an open ticket, or the account key, can make as many identities
/// as he likes, and must neither fill the memory with them nor have each of them's statements read.
package final class MemberRateLimiters {
    private var live: Set<DeviceID> = []
    private var budgets: [DeviceID: MemberRateLimiter] = [:]
    private var strangers = MemberRateLimiter()

    /// Budgets of an account without members.
    package init() {}

    /// The budget of a device; full for a member that was not heard of.
    package subscript(_ device: DeviceID) -> MemberRateLimiter {
        get { live.contains(device) ? budgets[device, default: MemberRateLimiter()] : strangers }
        set {
            if live.contains(device) { budgets[device] = newValue } else { strangers = newValue }
        }
    }

    /// Whether one more signed advert of a device is taken; counts it.
    package func admitAdvert(of device: DeviceID, at now: MonotonicInstant) -> Bool {
        self[device].admitAdvert(at: now) == .admit
    }

    /// Takes the members as they are now, and forgets the others.
    package func retain(_ live: Set<DeviceID>) {
        self.live = live
        budgets = budgets.filter { live.contains($0.key) }
    }
}
