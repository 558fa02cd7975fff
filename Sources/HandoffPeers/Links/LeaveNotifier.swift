import HandoffModel
import LoopIO

/// Tells the members that this device has left, while it still can. Lives on the daemon's loop.
///
/// A member that takes the statements in closes the connection, since this device is no longer live for it: that is how it
/// confirms.
final class LeaveNotifier {
    /// How long all of it may take.
    static let timeout = Duration.seconds(2)

    /// Members that know of it.
    private(set) var told: Set<DeviceID> = []
    private var waiting: Set<DeviceID>
    private var timer: LoopTimer?
    private var completion: (() -> Void)?

    /// Begins to tell `members`; `completion` is called once, in two seconds at the latest.
    ///
    /// - Parameter link: a connection to a member, open or being made; nil when nobody knows where it is.
    init(
        _ members: Set<DeviceID>, statements: [UInt8], on loop: EventLoop,
        link: (DeviceID, @escaping (PeerLink?) -> Void) -> Void, completion: @escaping () -> Void
    ) {
        waiting = members
        self.completion = completion
        // Not from inside the start, even if nobody is there.
        timer = loop.timer(after: members.isEmpty ? .zero : Self.timeout) { [weak self] in self?.finish() }
        guard timer != nil else {
            loop.later { [self] in finish() }
            return
        }
        for member in members.sorted() {
            link(member) { [weak self] link in self?.tell(member, over: link, statements) }
        }
    }

    private func tell(_ member: DeviceID, over link: PeerLink?, _ statements: [UInt8]) {
        guard let link else { return settle(member) }
        link.whenEstablished { [weak self] isEstablished in
            guard isEstablished else { return self?.settle(member) ?? () }
            link.whenEnded { [weak self] in
                if link.wasEndedByPeer { self?.told.insert(member) }
                self?.settle(member)
            }
            link.sendStatements(statements)
        }
    }

    private func settle(_ member: DeviceID) {
        waiting.remove(member)
        // In a later turn: others may be settled by what goes on right now.
        if waiting.isEmpty { timer?.rearm(after: .zero) }
    }

    private func finish() {
        timer = nil
        let completion = self.completion
        self.completion = nil
        completion?()
    }
}
