import HandoffControl
package import HandoffDiscovery
import HandoffJSON
package import HandoffLog
import HandoffModel
package import LoopIO

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

    /// How long the end may wait for mDNS goodbyes: a hanging Avahi must not hold up a shutdown.
    private static let patienceAtEnd = Duration.seconds(2)

    private let loop: EventLoop
    private let log: Logger
    private var core: DaemonCore?
    private var server: ControlServer?
    private var deadline: LoopTimer?
    private var onStopped: (() -> Void)?

    /// The loop is where everything of the daemon runs.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    /// A daemon that does nothing yet.
    package init(loop: EventLoop, log: Logger) {
        self.loop = loop
        self.log = log
    }

    /// Begins to serve devices and clients; returns when both can connect. Called on the loop.
    ///
    /// - Parameters:
    ///   - name: what the other devices call this one.
    ///   - pairingDiscovery: makes a discovery of pairing windows that is not started; nil where nothing is discovered.
    ///   - unixSeconds: the wall clock.
    /// - Throws: when descriptors or memory are missing.
    package func start(
        _ sockets: consuming Sockets, configuration: Configuration, stored: StoredState, name: String,
        discovery: any Discovery, pairingDiscovery: (@Sendable () -> any Discovery)?, userID: UInt32,
        isSandboxed: @escaping @Sendable (Int32) -> Bool, unixSeconds: @escaping @Sendable () -> UInt64
    ) throws {
        let clients = sockets.clients
        let air = PairingAir(make: pairingDiscovery) { [self, loop] number, event in
            loop.perform { self.assumeIsolated { $0.core?.air.take(number, event) } }
        }
        let core = try DaemonCore(
            loop: loop, log: log, configuration: configuration, stored: stored, name: name, port: sockets.port,
            discovery: discovery, air: air, unixSeconds: unixSeconds)
        let server = ControlServer(
            loop: loop, version: Version.number, userID: userID, log: log.named("control"), isSandboxed: isSandboxed
        ) { call in
            if let method = AppMethod(rawValue: call.method) {
                core.apps.handle(method, call)
            } else if let method = ControlMethod(rawValue: call.method) {
                core.control.handle(method, call)
            } else {
                call.fail(VarlinkService.methodNotFound, ["method": .string(call.method)])
            }
        }
        self.core = core
        self.server = server
        core.start()
        for client in clients { server.serve(client.listener, role: client.role) }
        log.notice("Ready", ["device": core.keeper.deviceID.short, "port": "\(core.port)", "name": name])
    }

    /// Begins to look for other devices; after the service manager was told that the daemon is ready.
    package func startDiscovery() {
        core?.startDiscovery { [self, loop] event in
            loop.perform { self.assumeIsolated { $0.core?.discovered(event) } }
        }
    }

    /// Takes a configuration that was read again; what concerns sockets and discovery holds from the next start.
    package func reconfigure(_ configuration: Configuration) {
        core?.reconfigure(configuration)
    }

    /// Ends in order: no more clients, a goodbye to the other devices, then `completion` on the loop.
    package func stop(completion: @escaping () -> Void) {
        guard onStopped == nil else { return }
        onStopped = completion
        log.notice("Stopping")
        server?.stop()
        core?.stop { [self, loop] in
            loop.perform { self.assumeIsolated { $0.finish() } }
        }
        deadline = try? loop.timer(after: Self.patienceAtEnd) { self.finish() }
        // Without a timer the end does not wait at all.
        if deadline == nil || core == nil { finish() }
    }

    private func finish() {
        deadline = nil
        core = nil
        server = nil
        let completion = onStopped
        onStopped = {}
        completion?()
    }
}
