import HandoffModel
import HandoffProtocol

/// What each member may still do, over its datagrams and all its connections together. Lives on the daemon's loop.
final class MemberBudgets {
    private var budgets: [DeviceID: MemberBudget] = [:]

    /// The budget of a device; full for one that was not heard of.
    subscript(_ device: DeviceID) -> MemberBudget {
        get { budgets[device, default: MemberBudget()] }
        set { budgets[device] = newValue }
    }

    /// Whether one more signed advert of a device is taken; counts it.
    func admitAdvert(of device: DeviceID, at now: BootInstant) -> Bool {
        budgets[device, default: MemberBudget()].admitAdvert(at: now) == .admit
    }

    /// Forgets devices that are no longer members.
    func retain(_ live: Set<DeviceID>) {
        budgets = budgets.filter { live.contains($0.key) }
    }
}
