package import HandoffConfiguration
import HandoffControl
package import HandoffControlServer
package import HandoffDesktopClient
package import HandoffDiscovery
import HandoffJSON
package import HandoffLog
import HandoffModel
import HandoffPairingService
package import HandoffState
package import LoopIO
package import Timing

/// The daemon: one actor on one event loop, which owns all state.
///
/// It adds to `DaemonCore` what concerns the process: sockets of clients, the service manager, and the end.
package actor Daemon {
    /// What the process hands to its daemon.
    package struct Sockets: ~Copyable {
        /// TCP and UDP, bound to one port.
        package var port: BoundPort
        /// Listening unix sockets and what each is for.
        package var clients: [(listener: Listener, role: ControlRole)]

        /// Sockets that are open and belong to the daemon from now on.
        package init(port: consuming BoundPort, clients: [(listener: Listener, role: ControlRole)]) {
            self.port = port
            self.clients = clients
        }
    }

    /// What every core of the daemon is made of. There is one core at a time; the next one follows when the device has left
    /// its account, and goes on with a new identity.
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

    /// How long the end may wait for mDNS goodbyes: a hanging Avahi must not hold up a shutdown.
    private static let timeoutAtEnd = Duration.seconds(2)

    private let loop: EventLoop
    private let log: Logger
    /// Stays bound from one core to the next.
    private var port: BoundPort?
    private var making: Making?
    private var core: DaemonCore?
    /// The way to the user's desktop; one core after the other uses it.
    private var desktop: DesktopLink?
    /// Which core it is, counted from the start.
    private var coreNumber = 0
    private var isDiscovering = false
    /// Not given anew to who leaves the account: codes are counted for the network that guesses at them.
    private let pairingAttempts = PairingAttemptLimiterBox()
    private var server: ControlServer?
    private var deadline: LoopTimer?
    private var onStopped: (() -> Void)?
    private var onCoreEnded: (() -> Void)?
    /// Told that the daemon cannot go on, after a notice in the log.
    package var onFailed: (() -> Void)?

    /// The loop is where everything of the daemon runs.
    // Unsafe for the compiler only: the daemon keeps its loop, so the executor outlives every job of this actor.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    /// A daemon that does nothing yet.
    package init(loop: EventLoop, log: Logger) {
        self.loop = loop
        self.log = log
    }

    /// Begins to serve devices and clients; returns when both can connect. Called on the loop.
    ///
    /// - Parameters:
    ///   - policy: what the administrator forbids.
    ///   - name: what the other devices call this one.
    ///   - discovery: makes one that is not started; called again when this device has left its account.
    ///   - pairingDiscovery: makes a discovery of pairing windows that is not started; nil where nothing is discovered.
    ///   - apps: how apps are known and started.
    /// - Throws: when descriptors or memory are missing.
    package func start(
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

    /// Begins to look for other devices; after the service manager was told that the daemon is ready.
    package func startDiscovery() {
        isDiscovering = true
        guard let core else { return }
        // Of a core that has ended, what its discovery still says is of no use.
        // Weak, here and below: what the daemon owns must not be let go of on a thread of discovery.
        core.startDiscovery { [weak self, loop, coreNumber] event in
            loop.perform { [weak self] in self?.assumeIsolated { $0.discovered(event, byCore: coreNumber) } }
        }
    }

    /// Takes a configuration and a policy that were read again; what concerns sockets and discovery holds from the next
    /// start.
    package func reconfigure(_ configuration: Configuration, policy: Policy = Policy()) {
        making?.configuration = configuration
        making?.policy = policy
        core?.reconfigure(configuration, policy: policy)
    }

    /// Ends in order: no more clients, a goodbye to the other devices, then `completion` on the loop.
    package func stop(completion: @escaping () -> Void) {
        guard onStopped == nil else { return }
        onStopped = completion
        log.notice("Stopping")
        // Before their apps hear of the end: an app that closes its stream by then would count as the reason.
        core?.streams.stop()
        server?.stop()
        // A core that is ending to be followed by another is followed by none.
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

    /// This device has left its account, and has another identity: everything of the former one ends, that is all clients and
    /// connections, and a new core begins on the same sockets.
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
            log.notice("Goes on with a new identity", ["device": core.accountStore.deviceID.short])
        } catch {
            // What is stored is in order: whoever starts the daemon anew gets the new identity.
            log.fault("Cannot go on with a new identity", ["error": "\(error)"])
            onFailed?()
        }
    }

    /// Ends the core, which says goodbye; then calls `completion`, after two seconds at the latest.
    private func endCore(_ completion: @escaping () -> Void) {
        onCoreEnded = completion
        core?.stop { [weak self, loop, coreNumber] in
            loop.perform { [weak self] in self?.assumeIsolated { $0.withdrawn(byCore: coreNumber) } }
        }
        deadline = loop.timer(after: Self.timeoutAtEnd) { self.coreEnded() }
        if core == nil { coreEnded() }
    }

    /// What was announced is withdrawn; what is still to be written is what remains.
    private func withdrawn(byCore number: Int) {
        guard number == coreNumber, let core else { return }
        // By the time of the answer it may be another core that ends.
        core.history.finish { self.assumeIsolated { if number == $0.coreNumber { $0.coreEnded() } } }
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
