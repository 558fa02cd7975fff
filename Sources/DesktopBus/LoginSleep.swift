import CSystemdBus
package import HandoffHandlers
import HandoffModel
package import LoopIO

/// Follows when the machine goes to sleep or shuts down, and delays that until it is handled
/// (org.freedesktop.login1(5), `PrepareForSleep` and `PrepareForShutdown`). Lives on the loop's thread
/// and never blocks.
///
/// Uses locks of the kind `delay`. logind waits for them at most `InhibitDelayMaxSec`, 5 s by
/// default, and does not request a password. A refused lock is requested again after increasing
/// delays, and when logind starts.
package final class LoginSleep: LoopBusDelegate {
    /// The maximum time for a reply from logind, in microseconds.
    private static let timeout: UInt64 = 5_000_000

    private let loop: EventLoop
    private let onChange: (MachineSleep) -> Void
    private let bus: LoopBus
    /// The locks that delay sleep and shutdown; nil if logind does not grant them. One for both would need
    /// another permission.
    private var sleepLock: Descriptor?
    private var shutdownLock: Descriptor?
    private var state = State.awake
    /// Waits until the lock is requested again, or until logind is queried for the end of sleep.
    private var timer: LoopTimer?
    private var backoff = Backoff.messageBus

    private enum State {
        /// The machine is awake, or no bus is available.
        case awake
        /// The machine is about to sleep or shut down, and waits.
        case imminent(LoginManager.Operation)
        /// The machine may do so. Lasts until it is awake.
        case allowed(LoginManager.Operation)
    }

    /// Starts following.
    ///
    /// - Parameter onChange: Called with `.awake` once signals are followed and the lock was requested,
    ///   and with each change.
    package init(loop: EventLoop, onChange: @escaping (MachineSleep) -> Void) {
        self.loop = loop
        self.onChange = onChange
        bus = LoopBus(.system, loop: loop, timeout: Self.timeout)
        bus.start(self)
    }

    /// Ends the subscription. Nothing is reported and sleep is not delayed afterwards.
    package func stop() {
        timer = nil
        bus.stop()
        release()
    }

    /// Lets the machine sleep, after the upcoming sleep has been handled. Has no effect if it has
    /// woken meanwhile.
    package func allow() {
        guard case .imminent(let operation) = state else { return }
        state = .allowed(operation)
        release()
        backoff.reset()
        queryLater()
    }

    func busOpened() throws(Errno) {
        for operation in LoginManager.Operation.allCases {
            let rule =
                "sender='\(LoginManager.service)',path='\(LoginManager.path)',interface='\(LoginManager.interface)',"
                + "member='\(operation.signal)'"
            try bus.follow(rule) { [weak self] message in
                guard let isStart = try? BusReader.flag(message) else { return }
                isStart ? self?.began(operation) : self?.awoke()
            }
        }
        // logind has started, and may have lost the lock, or the operation.
        try bus.follow("sender='\(LoopBus.name)',member='NameOwnerChanged',arg0='\(LoginManager.service)'") {
            [weak self] message in
            let names = try? [BusReader.text(message, "s"), BusReader.text(message, "s"), BusReader.text(message, "s")]
            if names?.last?.isEmpty == false { self?.awoke() }
        }
        awoke()
    }

    /// Sleep may start and end unnoticed. With a new connection, the machine is awake.
    func busLost(wasOpen: Bool) {
        timer = nil
    }

    private func began(_ operation: LoginManager.Operation) {
        timer = nil
        state = .imminent(operation)
        onChange(.imminent)
    }

    private func awoke() {
        timer = nil
        backoff.reset()
        let wasAwake = isAwake
        state = .awake
        // Sleep may begin again before logind answers.
        if !wasAwake { onChange(.awake) }
        request { [weak self] in if wasAwake { self?.onChange(.awake) } }
    }

    // MARK: - The locks

    private var isAwake: Bool { if case .awake = state { true } else { false } }

    private func release() {
        sleepLock = nil
        shutdownLock = nil
    }

    /// - Parameter completion: Called after the reply, if the machine is still awake.
    private func request(completion: @escaping () -> Void = {}) {
        inhibit(.shutdown) { [weak self] reply in
            guard let lock = self?.lock(reply) else { return }
            self?.shutdownLock = consume lock
        }
        inhibit(.sleep) { [weak self] reply in
            guard let self else { return }
            bus.reached()
            // Without a lock, the machine does not wait; the peers may still be notified in time.
            if let lock = lock(reply) { sleepLock = consume lock } else { refused() }
            if isAwake { completion() }
        }
    }

    private func inhibit(_ operation: LoginManager.Operation, then: @escaping (OpaquePointer?) -> Void) {
        call(
            LoginManager.service, LoginManager.path, LoginManager.interface, "Inhibit", startsService: true,
            {
                LoginManager.inhibit(
                    &$0, what: operation, who: "Handoff", why: "Other devices are being notified", mode: .delay)
            }, then: then)
    }

    /// Returns the lock in a reply; nil if there is none, or if the machine may sleep already.
    private func lock(_ reply: OpaquePointer?) -> Descriptor? {
        if case .allowed = state { return nil }
        return reply.flatMap { try? BusReader.descriptor($0) }
    }

    /// Requests the lock again later, unless logind does not run. Its start is reported.
    private func refused() {
        call(LoopBus.name, LoopBus.path, LoopBus.name, "NameHasOwner", { $0.append(LoginManager.service) }) {
            [weak self] reply in
            guard let self, isAwake, (reply.flatMap { try? BusReader.flag($0) }) ?? true else { return }
            timer = loop.timer(after: backoff.next(), accuracy: .seconds(1)) { [weak self] in self?.request() }
        }
    }

    // MARK: - The end of sleep

    /// Queries logind later for the end of sleep. It reports none if the sleep failed or was cancelled in
    /// some versions, after hibernation in others. The timer does not wake the machine.
    private func queryLater() {
        timer = loop.timer(after: backoff.next(), accuracy: .seconds(1)) { [weak self] in self?.query() }
    }

    private func query() {
        guard case .allowed(let operation) = state else { return }
        call(
            LoginManager.service, LoginManager.path, LoopBus.propertiesInterface, "Get",
            {
                $0.append(LoginManager.interface)
                $0.append(operation.property)
            },
            then: { [weak self] reply in
                guard let self, case .allowed = state else { return }
                if reply.flatMap({ try? BusReader.variantFlag($0) }) == false { awoke() } else { queryLater() }
            })
    }

    private func call(
        _ service: String, _ path: String, _ interface: String, _ member: String, startsService: Bool = false,
        _ fill: (inout BusMessage) -> Void, then: @escaping (OpaquePointer?) -> Void
    ) {
        do throws(Errno) {
            try bus.call(service, path, interface, member, startsService: startsService, fill, then: then)
        } catch {
            // The connection is lost or about to be.
        }
    }
}
