internal import Glibc
import HandoffConfiguration
import HandoffControl
import HandoffControlServer
import HandoffDesktopClient
package import HandoffDiscovery
import HandoffHandlers
package import HandoffLog
import HandoffModel
import HandoffPairingService
import HandoffState
import LoopIO
import Timing

/// The process around the daemon: command line, configuration, state folder, sockets, signals, service manager.
package enum DaemonProcess {
    /// Makes the discovery that needs no system service; the program links it, this library does not.
    package typealias EmbeddedFactory = @Sendable (DiscoveryOptions, Logger) -> any Discovery

    /// Ended in order.
    private static let done: Int32 = 0
    /// Could not start, or failed.
    private static let failed: Int32 = 1
    /// Wrong usage.
    private static let usage: Int32 = 2
    /// Cannot start before something is corrected (EX_CONFIG of sysexits.h): the unit does not try again.
    private static let misconfigured: Int32 = 78

    /// Runs handoffd to its end, on the calling thread, which must be the process's first.
    ///
    /// - Parameter words: the command line without the program's name.
    /// - Returns: the exit code.
    package static func run(_ words: [String], embedded: @escaping EmbeddedFactory) -> Int32 {
        do {
            switch try CommandLineParser.parse(words) {
            case .help: say(CommandLineHelp.text, to: .output)
            case .version: say("handoffd \(Version.number)\n", to: .output)
            case .check(let options): say(try check(options), to: .output)
            case .run(let options): try serve(options, embedded: embedded)
            }
            return done
        } catch {
            say("handoffd: \(error)\n", to: .error)
            ServiceManager.notifyStatus("Failed: \(error)")
            return status(of: error)
        }
    }

    private static func status(of error: any Error) -> Int32 {
        switch error {
        case is OptionError: usage
        case is ConfigurationError: misconfigured
        case let error as StateError: error.needsCorrection ? misconfigured : failed
        default: failed
        }
    }

    private static func loader(_ options: CommandLineOptions, _ environment: [String: String]) -> ConfigurationLoader {
        ConfigurationLoader(file: options.configurationFile, options: options.settings, environment: environment)
    }

    /// Reads configuration and policy as a start would.
    /// - Returns: what was read, for people.
    /// - Throws: the first mistake.
    private static func check(_ options: CommandLineOptions) throws -> String {
        let loader = loader(options, ProcessEnvironment.all)
        _ = try loader.load()
        _ = try PolicyLoader().load()
        return "The configuration is valid: \(loader.paths.joined(separator: ", ")), \(PolicyLoader.systemFolder)\n"
    }

    private static func serve(_ options: CommandLineOptions, embedded: @escaping EmbeddedFactory) throws {
        ProcessEnvironment.disableDumps()
        // Before any thread: all of them inherit what is blocked.
        try ProcessSignals.prepare(blocking: [SIGTERM, SIGINT, SIGHUP])
        let passed = ServiceManager.listenDescriptors()
        let environment = ProcessEnvironment.all
        let loader = loader(options, environment)
        let policyLoader = PolicyLoader()
        let configuration: Configuration
        let policy: Policy
        let log: Logger
        let stored: StoredState
        do {
            configuration = try loader.load()
            policy = try policyLoader.load()
            log = Logger(subsystem: "daemon", sink: StderrSink(), level: configuration.logLevel)
            stored = try openState(options, environment, log)
            warn(of: configuration, log)
        } catch {
            // Otherwise clients that wait would start the service again, which fails again. After other failures they go on
            // waiting, for the next start.
            if status(of: error) == misconfigured {
                ListeningSockets.refuse(passed, because: "handoffd cannot start: \(error)")
            }
            throw error
        }
        let apps = DesktopAccess(
            environment: environment, folder: ProcessEnvironment.programFolder,
            socket: options.appSocket ?? options.controlSocket, userID: ProcessEnvironment.userID)
        let loop = try EventLoop()
        let daemon = Daemon(loop: loop, log: log)
        try daemon.assumeIsolated { daemon in
            let sockets = Daemon.Sockets(
                port: try ListeningSockets.port(configuration),
                clients: try ListeningSockets.clients(options, passed: passed, environment: environment, on: loop))
            try daemon.start(
                sockets, configuration: configuration, policy: policy, stored: stored, name: deviceName(configuration),
                discovery: { discovery(configuration, embedded: embedded, log: log.named("discovery")) },
                pairingDiscovery: pairingDiscovery(configuration, embedded: embedded, log: log.named("pairing")),
                userID: ProcessEnvironment.userID,
                apps: options.hasDesktop ? apps : .none,
                group: { ClientGroup(ofProcess: $0) })
        }
        let hasFailed = Locked(false)
        daemon.assumeIsolated { daemon in
            daemon.onFailed = {
                hasFailed.withLock { $0 = true }
                loop.stop()
            }
        }
        try withSignals(of: daemon, loader, policyLoader, on: loop, log: log) {
            try loop.startWatchdog()
            ServiceManager.notify("READY=1")
            daemon.assumeIsolated { $0.startDiscovery() }
            // The start reads much that is not needed later. By then discovery has said what there is.
            let settling = loop.timer(after: .seconds(10), accuracy: .seconds(5)) { FreeMemory.release() }
            defer { settling.cancel() }
            try loop.run()
        }
        if hasFailed.withLock({ $0 }) { throw CannotGoOn() }
    }

    private static func openState(
        _ options: CommandLineOptions, _ environment: [String: String], _ log: Logger
    ) throws(StateError) -> StoredState {
        let place = try StatePlace.choose(given: options.stateDirectory, environment: { environment[$0] })
        if let other = place.ignored {
            log.notice("There is another identity, which is not used", ["used": place.path, "other": other])
        }
        let stored = try StateFolder.open(place.path, now: SystemWallClock().unixSeconds)
        for what in stored.folder.limitations {
            log.notice(
                "The file system of the state folder has no \(what)",
                ["path": place.path, "advice": "use a local file system for it"])
        }
        return stored
    }

    /// Says what of the configuration fits no interface of this machine; it may come yet.
    private static func warn(of configuration: Configuration, _ log: Logger) {
        guard !configuration.interfaces.isEmpty, let table = try? InterfaceTable.current() else { return }
        let presence = NetworkPresence(table, interfaces: configuration.interfaces, only: configuration.address)
        for name in presence.missing {
            log.notice("This machine has no network interface of a configured name", ["interface": name])
        }
    }

    /// The daemon has ended by itself; the reason is in the log.
    private struct CannotGoOn: Error, CustomStringConvertible {
        let description = "cannot go on; see the log"
    }

    /// Ends the daemon at SIGTERM and SIGINT, and reads configuration and policy again at SIGHUP, while `body` runs.
    private static func withSignals(
        of daemon: Daemon, _ loader: ConfigurationLoader, _ policyLoader: PolicyLoader, on loop: EventLoop, log: Logger,
        _ body: () throws -> Void
    ) throws {
        let sources = try [SIGTERM, SIGINT].map { number in
            try loop.signal(number) {
                ServiceManager.notify("STOPPING=1")
                daemon.assumeIsolated { $0.stop { loop.stop() } }
            }
        }
        let reload = try loop.signal(SIGHUP) {
            do {
                let configuration = try loader.load()
                let policy = try policyLoader.load()
                daemon.assumeIsolated { $0.reconfigure(configuration, policy: policy) }
                log.notice("Configuration was read again")
                ServiceManager.notifyStatus("")
            } catch {
                log.error("Configuration was not taken", ["error": "\(error)"])
                ServiceManager.notifyStatus("Runs with its former configuration: \(error)")
            }
        }
        try body()
        for source in sources + [reload] { source.cancel() }
    }

    private static func discovery(
        _ configuration: Configuration, embedded: @escaping EmbeddedFactory, log: Logger
    ) -> any Discovery {
        LimitedDiscovery { interfaces in
            discovery(configuration, options(configuration, interfaces), embedded: embedded, log: log)
                ?? StaticDiscovery(peers: [], logger: log)
        }
    }

    /// Makes a discovery of pairing windows each time one is needed; nil where nothing is discovered.
    private static func pairingDiscovery(
        _ configuration: Configuration, embedded: @escaping EmbeddedFactory, log: Logger
    ) -> (@Sendable () -> any Discovery)? {
        guard configuration.discovery != .static else { return nil }
        return {
            LimitedDiscovery { interfaces in
                var options = options(configuration, interfaces)
                options.serviceType = PairingDiscovery.serviceType
                // Never nil here: only `static` wants none.
                return discovery(configuration, options, embedded: embedded, log: log)
                    ?? StaticDiscovery(peers: [], logger: log)
            }
        }
    }

    /// - Parameter interfaces: the only ones; nil for those that are configured.
    private static func options(_ configuration: Configuration, _ interfaces: [String]?) -> DiscoveryOptions {
        DiscoveryOptions(
            interfaces: interfaces ?? configuration.interfaces, useIPv4: configuration.address?.isIPv4 ?? true,
            useIPv6: !(configuration.address?.isIPv4 ?? false))
    }

    /// A discovery that is not started; nil when the configuration wants none.
    private static func discovery(
        _ configuration: Configuration, _ options: DiscoveryOptions, embedded: @escaping EmbeddedFactory, log: Logger
    ) -> (any Discovery)? {
        switch configuration.discovery {
        case .auto:
            // The system's Avahi does not serve the loopback interface alone.
            if options.isLoopbackOnly { return embedded(options, log) }
            return AutomaticDiscovery(options: options, logger: log, embedded: { embedded(options, log) })
        case .avahi: return AvahiDiscovery(options: options, logger: log)
        case .embedded: return embedded(options, log)
        case .static: return nil
        }
    }

    private static func deviceName(_ configuration: Configuration) -> String {
        configuration.name ?? MachineInfo.hostName() ?? "device"
    }

    private static func say(_ text: String, to stream: StandardStream) {
        // Nobody is left to tell that the terminal is gone.
        try? stream.write(Array(text.utf8))
    }
}
