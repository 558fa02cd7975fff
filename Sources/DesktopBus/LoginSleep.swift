import CSystemdBus
package import HandoffDesktop
package import LoopIO

/// Follows when the machine goes to sleep, and holds it up until that is known (org.freedesktop.login1(5), `PrepareForSleep`).
/// Lives on the loop's thread; never waits.
///
/// What holds it up is a lock of the kind `delay`: logind waits for it at most `InhibitDelayMaxSec`, 5 s unless configured
/// otherwise, and asks nobody for a password.
package final class LoginSleep: LoopBusDelegate {
    /// How long logind may take to answer, in microseconds.
    private static let timeout: UInt64 = 5_000_000

    private let onChange: (MachineSleep) -> Void
    private let bus: LoopBus
    /// While it is kept the machine does not sleep; nil where logind gives none.
    private var lock: Descriptor?
    private var state = State.awake

    private enum State {
        /// The state while the machine is awake, or there is no bus that could say.
        case awake
        /// The state while the machine is about to sleep, and waits.
        case imminent
        /// The state from when the machine may sleep until it wakes.
        case allowed
    }

    /// Begins to follow.
    ///
    /// - Parameter onChange: told that the machine is awake, once that is followed and sleep is held up, and of each change.
    package init(loop: EventLoop, onChange: @escaping (MachineSleep) -> Void) {
        self.onChange = onChange
        bus = LoopBus(.system, loop: loop, timeout: Self.timeout)
        bus.start(self)
    }

    /// Ends it; nothing is told any more, and nothing holds sleep up.
    package func stop() {
        bus.stop()
        lock = nil
    }

    /// Whoever had to know that the machine goes to sleep does: it may. Too late when it has woken meanwhile.
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

    /// Sleep may come and go unseen meanwhile: once there is a bus again the machine is awake.
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
                { LoginManager.inhibit(&$0, who: "Handoff", why: "Other devices are told", mode: .delay) },
                then: { [weak self] reply in self?.answered(reply) })
        } catch {
            // The connection is lost, or will be.
        }
    }

    private func answered(_ reply: OpaquePointer?) {
        bus.reached()
        guard state != .allowed else { return }
        // Where logind gives none the machine does not wait, and the others may still be told in time.
        if let reply, let taken = try? BusReader.descriptor(reply) { lock = consume taken }
        if state == .awake { onChange(.awake) }
    }
}
