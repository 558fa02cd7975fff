import HandoffModel
import LoopIO

/// Notifies the members that this device has left, while it still can. Lives on the daemon's loop.
///
/// A member that merges the statements closes the connection, because this device is no longer live
/// for it. That is its confirmation.
final class LeaveNotifier {
    /// The time limit for all notifications.
    static let timeout = Duration.seconds(2)

    /// The notification of one member.
    private enum Notification {
        /// The connection is open or being established.
        case pending
        /// The member has confirmed the removal.
        case confirmed
        /// The member could not be notified.
        case failed
    }

    private var notifications: [DeviceID: Notification]
    /// The members that have confirmed the removal.
    var notified: Set<DeviceID> { Set(notifications.filter { $0.value == .confirmed }.keys) }
    private var timer: LoopTimer?
    private var completion: (() -> Void)?

    /// Notifies `members`. `completion` is called once, after at most two seconds.
    ///
    /// - Parameter link: a connection to a member, open or being established; nil without a known
    ///   route.
    init(
        _ members: Set<DeviceID>, statements: [UInt8], on loop: EventLoop,
        link: (DeviceID, @escaping (PeerLink?) -> Void) -> Void, completion: @escaping () -> Void
    ) {
        notifications = Dictionary(uniqueKeysWithValues: members.map { ($0, .pending) })
        self.completion = completion
        // Not called from inside this initializer, even without members.
        timer = loop.timer(after: members.isEmpty ? .zero : Self.timeout) { [weak self] in self?.finish() }
        guard timer != nil else {
            loop.later { [self] in finish() }
            return
        }
        for member in members.sorted() {
            link(member) { [weak self] link in self?.notify(member, over: link, statements) }
        }
    }

    private func notify(_ member: DeviceID, over link: PeerLink?, _ statements: [UInt8]) {
        guard let link else { return settle(member, .failed) }
        link.whenEstablished { [weak self] isEstablished in
            guard isEstablished else { return self?.settle(member, .failed) ?? () }
            link.whenEnded { [weak self] in self?.settle(member, link.wasEndedByPeer ? .confirmed : .failed) }
            link.sendStatements(statements)
        }
    }

    private func settle(_ member: DeviceID, _ outcome: Notification) {
        notifications[member] = outcome
        // In a later turn, because the present event may settle other members.
        if !notifications.values.contains(.pending) { timer?.rearm(after: .zero) }
    }

    private func finish() {
        timer = nil
        let completion = self.completion
        self.completion = nil
        completion?()
    }
}
