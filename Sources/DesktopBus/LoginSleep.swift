import CSystemdBus
package import HandoffHandlers
package import LoopIO

/// Follows when the machine goes to sleep, and delays sleep until that is handled
/// (org.freedesktop.login1(5), `PrepareForSleep`). Lives on the loop's thread and never blocks.
///
/// Uses a lock of the kind `delay`. logind waits for it at most `InhibitDelayMaxSec`, 5 s by
/// default, and does not request a password.
package final class LoginSleep: LoopBusDelegate {
    /// The maximum time for a reply from logind, in microseconds.
    private static let timeout: UInt64 = 5_000_000

    private let onChange: (MachineSleep) -> Void
    private let bus: LoopBus
    /// The lock that delays sleep; nil if logind does not grant one.
    private var lock: Descriptor?
    private var state = State.awake

    private enum State {
        /// The machine is awake, or no bus is available.
        case awake
        /// The machine is about to sleep, and waits.
        case imminent
        /// The machine may sleep. Lasts until it wakes.
        case allowed
    }

    /// Starts following.
    ///
    /// - Parameter onChange: Called with `.awake` once signals are followed and sleep is delayed,
    ///   and with each change.
    package init(loop: EventLoop, onChange: @escaping (MachineSleep) -> Void) {
        self.onChange = onChange
        bus = LoopBus(.system, loop: loop, timeout: Self.timeout)
        bus.start(self)
    }

    /// Ends the subscription. Nothing is reported and sleep is not delayed afterwards.
    package func stop() {
        bus.stop()
        lock = nil
    }

    /// Lets the machine sleep, after the upcoming sleep has been handled. Has no effect if it has
    /// woken meanwhile.
    package func allow() {
        guard state == .imminent else { return }
        state = .allowed
        lock = nil
    }

    func busOpened() throws(Errno) {
        let rule =
            "sender='\(LoginManager.service)',path='\(LoginManager.path)',interface='\(LoginManager.interface)',"
            + "member='PrepareForSleep'"
        try bus.follow(rule) { [weak self] message in
            guard let isStart = try? BusReader.flag(message) else { return }
            isStart ? self?.began() : self?.awoke()
        }
        awoke()
    }

    /// Sleep may start and end unnoticed. With a new connection, the machine is awake.
    func busLost(wasOpen: Bool) {}

    private func began() {
        state = .imminent
        onChange(.imminent)
    }

    private func awoke() {
        state = .awake
        do throws(Errno) {
            try bus.call(
                LoginManager.service, LoginManager.path, LoginManager.interface, "Inhibit",
                { LoginManager.inhibit(&$0, who: "Handoff", why: "Other devices are being notified", mode: .delay) },
                then: { [weak self] reply in self?.answered(reply) })
        } catch {
            // The connection is lost or about to be.
        }
    }

    private func answered(_ reply: OpaquePointer?) {
        bus.reached()
        guard state != .allowed else { return }
        // Without a lock, the machine does not wait; the peers may still be notified in time.
        if let reply, let taken = try? BusReader.descriptor(reply) { lock = consume taken }
        if state == .awake { onChange(.awake) }
    }
}
