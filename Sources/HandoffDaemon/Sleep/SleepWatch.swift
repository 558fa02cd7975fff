import HandoffHandlers
import HandoffModel
import HandoffPeers
import LoopIO

/// Notifies the other devices before this machine goes to sleep or shuts down, and once it is awake.
/// Lives on the daemon's loop.
final class SleepWatch {
    private let loop: EventLoop
    private let log: Logger
    private let peers: Peers
    /// Restarts its grace period once the machine is awake.
    private let contact: ContactWatch
    private let keeping: KeepingService
    private let apps: AppService
    private var machine = SleepMachine()
    private var following: DesktopSleep?
    private var timer: LoopTimer?

    init(loop: EventLoop, log: Logger, peers: Peers, contact: ContactWatch, keeping: KeepingService, apps: AppService) {
        self.loop = loop
        self.log = log
        self.peers = peers
        self.contact = contact
        self.keeping = keeping
        self.apps = apps
    }

    /// Starts tracking. Without a desktop, sleep is not announced.
    func start(_ desktop: DesktopLink?) {
        following = desktop.map { desktop in
            DesktopSleep(desktop) { [weak self] in self?.take($0) }
        }
    }

    /// Stops tracking. Sleep is no longer delayed.
    func stop() {
        following = nil
        timer = nil
    }

    private func take(_ sleep: MachineSleep) {
        perform(machine.take(sleep, now: loop.now))
    }

    private func perform(_ action: SleepMachine.Action?) {
        switch action {
        case nil: break
        case .notify(let deadline): notify(until: deadline)
        case .allow:
            timer = nil
            following?.allow()
        case .announce:
            timer = nil
            log.info("The machine is awake")
            apps.setAsleep(false)
            contact.listensAnew()
            peers.wakeUp()
            keeping.setAsleep(false)
        }
    }

    private func notify(until deadline: MonotonicInstant) {
        log.info("The machine goes to sleep")
        apps.setAsleep(true)
        keeping.setAsleep(true)
        keeping.keepAll(timeout: KeepingService.sleepTimeout) { [weak self] in
            guard let self, machine.isNotifying else { return }
            peers.fallAsleep { [weak self] in self.map { $0.perform($0.machine.allKnow()) } }
        }
        timer = loop.timer(after: deadline - loop.now, accuracy: .milliseconds(10)) { [weak self] in
            self.map { $0.perform($0.machine.deadlinePassed(now: deadline)) }
        }
    }
}
