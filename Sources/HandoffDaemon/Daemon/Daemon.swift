import HandoffControl
import HandoffDiscovery
import HandoffJSON
import HandoffModel
import HandoffPeers
import HandoffState
import LoopIO

/// The daemon: one actor on one event loop, which owns all state.
///
/// It adds to `DaemonCore` the parts of the process: client sockets, the service manager, and the
/// shutdown.
actor Daemon {
    /// The sockets that the process passes to its daemon.
    struct Sockets: ~Copyable {
        /// A TCP and a UDP socket, bound to one port.
        var port: BoundPort
        /// The listening unix sockets and their roles.
        var clients: [(listener: Listener, role: ControlRole)]
    }

    /// The parameters of every core. There is one core at a time. The next one follows when the
    /// device has left its account and continues with a new identity.
    private struct Making {
        var configuration: Configuration
        var policy: Policy
        let name: String
        let worker: Worker
        let apps: DesktopAccess
        let discovery: @Sendable () -> any Discovery
        let pairingDiscovery: (@Sendable () -> any Discovery)?
        let wallClock: any WallClock
    }

    /// The time that the shutdown waits for mDNS goodbyes. A hanging Avahi must not delay it
    /// further.
    private static let timeoutAtEnd = Duration.seconds(2)

    private let loop: EventLoop
    private let log: Logger
    /// Stays bound from one core to the next.
    private var port: BoundPort?
    private var making: Making?
    private(set) var core: DaemonCore?
    /// The link to the user's desktop. Successive cores use it.
    private var desktop: DesktopLink?
    /// The number of the core, counted from the start.
    private var coreNumber = 0
    private var isDiscovering = false
    /// Kept when the device leaves its account, because attempts are counted for the whole network.
    private let pairingAttempts = PairingAttempts()
    private var server: ControlServer?
    private var deadline: LoopTimer?
    private var onStopped: (() -> Void)?
    private var onCoreEnded: (() -> Void)?
    /// Called when the daemon cannot continue, after an entry in the log.
    var onFailed: (() -> Void)?

    /// The executor of the daemon: its event loop.
    // Unsafe for the compiler only: the daemon keeps its loop, so the executor outlives every job
    // of this actor.
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    /// A daemon that has not started.
    init(loop: EventLoop, log: Logger) {
        self.loop = loop
        self.log = log
    }

    /// Starts serving devices and clients. Returns when both can connect. Called on the loop.
    ///
    /// - Parameters:
    /// - policy: the administrator's policy.
    /// - name: the name of this device.
    /// - discovery: returns a discovery that is not started; called again when this device has left
    ///   its account.
    /// - pairingDiscovery: returns a discovery of pairing windows that is not started; nil if
    ///   discovery is off.
    /// - apps: the access to apps and to the desktop.
    /// - Throws: if descriptors or memory are exhausted.
    func start(
        _ sockets: consuming Sockets, configuration: Configuration, policy: Policy = Policy(),
        stored: StoredState, name: String,
        discovery: @escaping @Sendable () -> any Discovery, pairingDiscovery: (@Sendable () -> any Discovery)?,
        userID: UInt32, apps: DesktopAccess = .none,
        group: @escaping @Sendable (Int32) -> ClientGroup, wallClock: any WallClock = SystemWallClock()
    ) throws {
        let clients = sockets.clients
        port = .some(sockets.port)
        making = Making(
            configuration: configuration, policy: policy, name: name, worker: try Worker(name: "files"), apps: apps,
            discovery: discovery,
            pairingDiscovery: pairingDiscovery, wallClock: wallClock)
        desktop = apps.openDesktop(loop, log.named("desktop"))
        let core = try makeCore(stored)
        let server = ControlServer(
            loop: loop, version: Version.number, userID: userID, log: log.named("control"), group: group
        ) { [self] call in
            serve(call)
        }
        self.core = core
        self.server = server
        core.start()
        for client in clients { server.serve(client.listener, role: client.role) }
        log.notice("Ready", ["device": core.accountStore.deviceID.short, "port": "\(core.port)", "name": name])
    }

    /// Starts the discovery of other devices, after the service manager was notified that the
    /// daemon is ready.
    func startDiscovery() {
        isDiscovering = true
        guard let core else { return }
        // Events from the discovery of a core that has ended are ignored.
        core.startDiscovery { [weak self, loop, coreNumber] event in
            loop.perform { [weak self] in self?.assumeIsolated { $0.discovered(event, byCore: coreNumber) } }
        }
    }

    /// Applies a reloaded configuration and policy. Changes to sockets and discovery take effect at
    /// the next start.
    func reconfigure(_ configuration: Configuration, policy: Policy = Policy()) {
        making?.configuration = configuration
        making?.policy = policy
        core?.reconfigure(configuration, policy: policy)
    }

    /// Stops in order: sends a leave message to the other devices, disconnects the clients, and
    /// calls `completion` on the loop.
    func stop(completion: @escaping () -> Void) {
        guard onStopped == nil else { return }
        onStopped = completion
        log.notice("Stopping")
        // While the apps are connected, and their activities exist.
        guard let core else { return stopParts() }
        core.keeping.stop { [weak self] in
            self?.assumeIsolated { $0.stopParts() }
        }
    }

    private func stopParts() {
        // Before the connections of apps end. Otherwise an app that closes its stream would be
        // recorded as the cause.
        core?.streams.stop()
        // Otherwise the end of each app would be announced. Other devices would remove its offers before
        // they show the copies.
        core?.peers.leave()
        server?.stop()
        // If the core is already ending, no other one follows it.
        if onCoreEnded == nil { endCore { [self] in finish() } }
    }

    private func finish() {
        server = nil
        port = nil
        making = nil
        let completion = onStopped
        onStopped = {}
        completion?()
    }

    // MARK: - Cores

    private func makeCore(_ stored: StoredState) throws -> DaemonCore {
        guard let making, let port = try port?.duplicate() else { throw Errno.invalidArgument }
        let pairingDiscovery = PairingDiscovery(make: making.pairingDiscovery) {
            [weak self, loop, coreNumber] number, event in
            loop.perform { [weak self] in self?.assumeIsolated { $0.found(event, by: number, ofCore: coreNumber) } }
        }
        let core = try DaemonCore(
            loop: loop, log: log, worker: making.worker, configuration: making.configuration, policy: making.policy,
            stored: stored, name: making.name, port: port, discovery: making.discovery(),
            pairingDiscovery: pairingDiscovery,
            pairingAttempts: pairingAttempts, apps: making.apps, desktop: desktop, wallClock: making.wallClock)
        core.onLeft = { [self] in renew($0) }
        return core
    }

    private func serve(_ call: ControlCall) {
        guard let core else { return call.fail(VarlinkService.methodNotFound, ["method": .string(call.method)]) }
        if let method = AppMethod(rawValue: call.method) {
            core.apps.handle(method, call)
        } else if let method = ControlMethod(rawValue: call.method) {
            core.control.handle(method, call)
        } else {
            call.fail(VarlinkService.methodNotFound, ["method": .string(call.method)])
        }
    }

    private func discovered(_ event: DiscoveryEvent, byCore number: Int) {
        guard number == coreNumber else { return }
        core?.discovered(event)
    }

    private func found(_ event: DiscoveryEvent, by discovery: UInt64, ofCore number: Int) {
        guard number == coreNumber else { return }
        core?.pairingDiscovery.take(discovery, event)
    }

    /// Handles that this device has left its account and has another identity. All clients and
    /// connections end, and a new core starts on the same sockets.
    private func renew(_ stored: StoredState) {
        guard onStopped == nil, onCoreEnded == nil else { return }
        core?.streams.stop()
        server?.pause()
        endCore { [self] in
            if onStopped == nil { begin(stored) } else { finish() }
        }
    }

    private func begin(_ stored: StoredState) {
        do {
            let core = try makeCore(stored)
            self.core = core
            core.start()
            if isDiscovering { startDiscovery() }
            server?.resume()
            log.notice("Continuing with a new identity", ["device": core.accountStore.deviceID.short])
        } catch {
            // The stored state is valid, so the new identity is used at the next start.
            log.fault("Cannot continue with a new identity", ["error": "\(error)"])
            onFailed?()
        }
    }

    /// Ends the core, which sends a leave message. Calls `completion` within two seconds.
    private func endCore(_ completion: @escaping () -> Void) {
        onCoreEnded = completion
        core?.stop { [weak self, loop, coreNumber] in
            loop.perform { [weak self] in self?.assumeIsolated { $0.withdrawn(byCore: coreNumber) } }
        }
        deadline = loop.timer(after: Self.timeoutAtEnd) { self.coreEnded() }
        if core == nil { coreEnded() }
    }

    /// Handles the withdrawal of the core's announcements. Only pending writes remain.
    private func withdrawn(byCore number: Int) {
        guard number == coreNumber, let core else { return }
        core.history.finish { [worker = core.worker] in
            worker.run({}, on: self.loop) { _ in
                // By now another core may be ending.
                self.assumeIsolated { if number == $0.coreNumber { $0.coreEnded() } }
            }
        }
    }

    private func coreEnded() {
        guard let completion = onCoreEnded else { return }
        onCoreEnded = nil
        deadline = nil
        core = nil
        coreNumber += 1
        completion()
    }
}
