internal import Glibc
import HandoffControl
package import HandoffDiscovery
import HandoffHandlers
import HandoffModel
import HandoffState
package import LoopIO

/// The process around the daemon: command line, configuration, state folder, sockets, signals,
/// service manager.
package enum DaemonProcess {
    /// Returns the discovery that needs no system service. The program links it; this library does
    /// not.
    package typealias EmbeddedFactory = @Sendable (DiscoveryOptions, Logger) -> any Discovery

    /// The exit code after an orderly shutdown.
    private static let done: Int32 = 0
    /// The exit code after a failure, at the start or later.
    private static let failed: Int32 = 1
    /// The exit code for incorrect usage.
    private static let usage: Int32 = 2
    /// The exit code if a correction is needed before the next start (EX_CONFIG of sysexits.h). The
    /// unit does not restart after it.
    private static let misconfigured: Int32 = 78

    /// Runs handoffd until it ends, on the calling thread, which must be the first thread of the
    /// process.
    ///
    /// - Parameter words: the command line without the program's name.
    ///
    /// - Returns: the exit code.
    package static func run(_ words: [String], embedded: @escaping EmbeddedFactory) -> Int32 {
        do {
            switch try CommandLineParser.parse(words) {
            case .help: write(CommandLineHelp.text, to: .output)
            case .version: write("handoffd \(Version.number)\n", to: .output)
            case .check(let options): write(try check(options), to: .output)
            case .run(let options): try serve(options, embedded: embedded)
            }
            return done
        } catch {
            write("handoffd: \(error)\n", to: .error)
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

    /// Reads configuration and policy as a start does.
    /// - Returns: a message that lists the files.
    /// - Throws: the first error.
    private static func check(_ options: CommandLineOptions) throws -> String {
        let loader = loader(options, ProcessEnvironment.all)
        _ = try loader.load()
        _ = try PolicyLoader().load()
        return "The configuration is valid: \(loader.paths.joined(separator: ", ")), \(PolicyLoader.systemFolder)\n"
    }

    private static func serve(_ options: CommandLineOptions, embedded: @escaping EmbeddedFactory) throws {
        ProcessEnvironment.disableDumps()
        // Before any thread, because threads inherit the blocked signals.
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
            // Otherwise waiting clients would start the service again, which would fail again.
            // After other failures they continue to wait for the next start.
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
            // The start reads data that is not needed later. By then discovery has reported the
            // devices.
            let settling = loop.timer(after: .seconds(10), accuracy: .seconds(5)) { FreeMemory.release() }
            defer { settling.cancel() }
            try loop.run()
        }
        if hasFailed.withLock({ $0 }) { throw CannotContinue() }
    }

    private static func openState(
        _ options: CommandLineOptions, _ environment: [String: String], _ log: Logger
    ) throws(StateError) -> StoredState {
        let place = try StatePlace.choose(given: options.stateDirectory, environment: { environment[$0] })
        if let other = place.ignored {
            log.notice("Another identity exists and is not used", ["used": place.path, "other": other])
        }
        let stored = try StateFolder.open(place.path, now: SystemWallClock().unixSeconds)
        for what in stored.folder.limitations {
            log.notice(
                "The file system of the state folder does not support \(what)",
                ["path": place.path, "advice": "use a local file system for it"])
        }
        return stored
    }

    /// Logs the configured interfaces that do not exist on this machine. They may appear later.
    private static func warn(of configuration: Configuration, _ log: Logger) {
        guard !configuration.interfaces.isEmpty, let table = try? InterfaceTable.current() else { return }
        let presence = NetworkPresence(table, interfaces: configuration.interfaces, only: configuration.address)
        for name in presence.missing {
            log.notice("A configured network interface does not exist", ["interface": name])
        }
    }

    /// The daemon has ended by itself. The reason is in the log.
    private struct CannotContinue: Error, CustomStringConvertible {
        let description = "cannot continue; see the log"
    }

    /// Runs `body`. Meanwhile SIGTERM and SIGINT stop the daemon, and SIGHUP reloads configuration
    /// and policy.
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
                log.notice("Configuration was reloaded")
                ServiceManager.notifyStatus("")
            } catch {
                log.error("Configuration was not reloaded", ["error": "\(error)"])
                ServiceManager.notifyStatus("Running with the previous configuration: \(error)")
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

    /// Returns a function that creates a discovery of pairing windows; nil if discovery is off.
    private static func pairingDiscovery(
        _ configuration: Configuration, embedded: @escaping EmbeddedFactory, log: Logger
    ) -> (@Sendable () -> any Discovery)? {
        guard configuration.discovery != .static else { return nil }
        return {
            LimitedDiscovery { interfaces in
                var options = options(configuration, interfaces)
                options.serviceType = PairingDiscovery.serviceType
                // Never nil here: only `static` has no discovery.
                return discovery(configuration, options, embedded: embedded, log: log)
                    ?? StaticDiscovery(peers: [], logger: log)
            }
        }
    }

    /// - Parameter interfaces: the only interfaces; nil for the configured ones.
    private static func options(_ configuration: Configuration, _ interfaces: [String]?) -> DiscoveryOptions {
        DiscoveryOptions(
            interfaces: interfaces ?? configuration.interfaces, useIPv4: configuration.address?.isIPv4 ?? true,
            useIPv6: !(configuration.address?.isIPv4 ?? false))
    }

    /// Returns a discovery that is not started; nil if it is configured off.
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

    private static func write(_ text: String, to stream: StandardStream) {
        // A terminal that has closed leaves no place to report its error.
        try? stream.write(Array(text.utf8))
    }
}
