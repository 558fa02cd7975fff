import DesktopBus
import HandoffHandlers
import HandoffModel
import LoopIO

/// Starts apps and the browser. Lives on the loop's thread.
///
/// Each start is a unit of the user's service manager, or a process of its own if there is no
/// manager. The only data from another device is the address of a page, checked by `WebPage` and
/// passed as one argument. Diagram: `docs/state-machines/launching.md`.
final class AppLauncher {
    /// The properties of this process that a start depends on. Plain values.
    struct Settings: Sendable {
        /// The search path for launchers.
        let programs: ProgramSearch
        /// The environment of programs started directly; a service manager has its own.
        let environment: [String: String]
        /// The socket where apps find the daemon; nil if it is in the default place.
        let socket: String?

        /// - Parameters:
        ///   - environment: The environment of this process. Variables meant for this process only
        ///     are removed.
        ///   - socket: The path of the daemon's socket; nil if it is in the default place.
        init(environment: [String: String], socket: String?) {
            programs = ProgramSearch(path: environment["PATH"])
            self.environment = environment.filter { !Self.privateVariables.contains($0.key) }
            self.socket = socket
        }

        /// Variables that a service manager sets for one service (systemd.exec(5),
        /// sd_listen_fds(3), sd_notify(3)), or a desktop for one program.
        private static let privateVariables: Set<String> = Set([
            "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_PID", "WATCHDOG_USEC",
            "STATE_DIRECTORY", "RUNTIME_DIRECTORY", "CONFIGURATION_DIRECTORY", "CACHE_DIRECTORY", "LOGS_DIRECTORY",
            "CREDENTIALS_DIRECTORY", "INVOCATION_ID", "JOURNAL_STREAM", "SYSTEMD_EXEC_PID", "MANAGERPID", "MAINPID",
        ]).union(ActivationToken.variableNames)
    }

    /// A start, as passed to its thread.
    private struct Job: Sendable {
        let unit: String
        let description: String
        /// The bus app to activate first. If there is no bus, the command is run.
        let app: BusApp?
        let words: [String]
        /// The working directory of the command; nil for the home directory.
        let folder: String?
        let variables: [String: String]
        /// The path for the file manager to show first. If no file manager can, the command is run.
        let shown: String?
    }

    /// The result of a job on its thread.
    private enum Outcome: Sendable {
        /// The program runs in a unit of its own, or was started by the bus.
        case runs
        case runsDetached(DetachedProgram.Started, noManager: String)
        case failed(StartFailure)
    }

    /// The time to watch a program. Launchers end quickly, and their exit status reports failures.
    private static let watching = Duration.seconds(3)
    /// The maximum number of concurrent starts; each has a thread.
    private static let maxJobs = 8

    private let loop: EventLoop
    private let log: Logger
    private let settings: Settings
    private var jobs = 0

    init(loop: EventLoop, log: Logger, settings: Settings) {
        self.loop = loop
        self.log = log
        self.settings = settings
    }

    /// Starts an app.
    ///
    /// - Parameters:
    ///   - type: The activity type to continue, for `HANDOFF_ACTIVITY_TYPE`. Passed only if the app
    ///     declares it.
    ///   - token: The activation token that lets the app come to the front.
    ///   - completion: Called once, when the launcher has ended or is still running after three
    ///     seconds.
    func launch(
        _ handler: Handler, for type: ActivityType, token: ActivationToken? = nil,
        completion: @escaping (Result<Void, StartFailure>) -> Void
    ) {
        let words: [String]
        var folder: String?
        var app: BusApp?
        switch handler.launch {
        case .desktopEntry(let path): words = ["gio", "launch", path]
        case .bus(let name, let path):
            // Not with gio launch, which ends before its request to the bus is sent (GLib 2.74).
            app = BusApp(name: name.text, path: name.path, token: token?.text)
            words = ["gio", "launch", path]
        case .command(let command, let path): (words, folder) = (command, path)
        case .elsewhere:
            return completion(.failure(StartFailure(message: "its start command is unknown")))
        }
        var variables = token?.variables ?? [:]
        // Uses the registry's text, so that nothing from the other device is passed on.
        if let declared = handler.types.first(where: { $0 == type }) {
            variables["HANDOFF_ACTIVITY_TYPE"] = declared.text
        }
        log.notice("Starting an app", ["app": handler.id.text])
        start(words, of: handler.id, description: handler.name, app: app, folder: folder, variables, completion)
    }

    /// Opens a page in the user's browser.
    ///
    /// - Parameters:
    ///   - token: The activation token that lets the browser come to the front.
    ///   - completion: Called once, when the opener has ended or is still running after three
    ///     seconds.
    func open(
        _ page: WebPage, token: ActivationToken? = nil, completion: @escaping (Result<Void, StartFailure>) -> Void
    ) {
        guard let browser = AppID("browser"), let opener = PageOpener.find(in: settings.programs) else {
            let message = "xdg-open and gio are not installed; install the package xdg-utils"
            return completion(.failure(StartFailure(message: message)))
        }
        start(
            opener + [page.argument], of: browser, description: "Web page from another device", app: nil,
            token?.variables ?? [:], completion)
    }

    /// Opens a file or folder with the user's program for it, or shows it in its folder.
    ///
    /// - Parameters:
    ///   - shows: If true, shows the item in its folder. Files that are not known to be documents
    ///     are always shown.
    ///   - token: The activation token that lets the program come to the front.
    ///   - completion: Called once, when the opener has ended or is still running after three
    ///     seconds.
    func open(
        _ file: ReceivedFile, shows: Bool, token: ActivationToken? = nil,
        completion: @escaping (Result<Void, StartFailure>) -> Void
    ) {
        guard let id = AppID(shows ? "folder" : "file"), let opener = PageOpener.find(in: settings.programs) else {
            let message = "xdg-open and gio are not installed; install the package xdg-utils"
            return completion(.failure(StartFailure(message: message)))
        }
        guard let kind = file.kind(in: DocumentTypes(environment: settings.environment)) else {
            return completion(.failure(StartFailure(message: "it no longer exists, or is not a file or folder")))
        }
        let shows = shows || kind == .runnable
        start(
            opener + [shows ? file.folder : file.path], of: id, description: "File from another device", app: nil,
            shown: shows ? file.path : nil, token?.variables ?? [:], completion)
    }

    /// The program of the window with the settings.
    static let settingsProgram = "handoff-settings"

    /// Opens the window with the settings. Reports nothing, because the user sees whether it opens.
    func openSettings(_ arguments: [String], token: ActivationToken?) {
        guard let id = AppID("settings") else { return }
        start([Self.settingsProgram] + arguments, of: id, description: "Handoff", app: nil, token?.variables ?? [:]) {
            [log] result in
            guard case .failure(let failure) = result else { return }
            log.notice("Cannot open the settings", ["error": failure.message])
        }
    }

    /// Opens the window that saves items in a folder of the user's choice.
    ///
    /// - Parameter completion: Called once, when the window has ended or is still running after three
    ///   seconds.
    func save(_ request: SaveItemsRequest, completion: @escaping (Result<Void, StartFailure>) -> Void) {
        guard let id = AppID("save") else { return }
        let token = request.token.flatMap { ActivationToken($0) }
        start(
            [Self.settingsProgram, "--save"] + request.items.map(\.argument), of: id,
            description: "Items from another device", app: nil, token?.variables ?? [:], completion)
    }

    /// True if the program for the settings and for saving items is installed.
    var hasSettings: Bool { settings.programs.find(Self.settingsProgram) != nil }

    private func start(
        _ words: [String], of id: AppID, description: String, app: BusApp?, folder: String? = nil,
        shown: String? = nil, _ variables: [String: String],
        _ completion: @escaping (Result<Void, StartFailure>) -> Void
    ) {
        guard jobs < Self.maxJobs else {
            return completion(.failure(StartFailure(message: "\(jobs) programs are already starting")))
        }
        var variables = variables
        if let socket = settings.socket { variables["HANDOFF_SOCKET"] = socket }
        let job = Job(
            unit: AppUnit.name(for: id, random: String(UInt64.random(in: .min ... .max), radix: 16)),
            description: description,
            app: app, words: words, folder: folder, variables: variables, shown: shown)
        let worker: Worker
        do {
            worker = try Worker(name: "launch")
        } catch {
            return completion(.failure(StartFailure(message: "\(error)")))
        }
        jobs += 1
        worker.run({ [settings] in Self.perform(job, settings) }, on: loop) { [self] result in
            // Keeps the worker, and with it the thread, until here.
            _ = worker
            jobs -= 1
            switch result {
            case .success(.runs): completion(.success(()))
            case .success(.runsDetached(let started, let reason)):
                log.info("Started without a service manager", ["unit": job.unit, "reason": reason])
                watch(started, job.words.first ?? "", completion)
            case .success(.failed(let failure)): completion(.failure(failure))
            case .failure(let error): completion(.failure(StartFailure(message: "\(error)")))
            }
        }
    }

    /// Performs a job on its own thread.
    private static func perform(_ job: Job, _ settings: Settings) -> Outcome {
        if let app = job.app {
            do throws(BusApp.Problem) {
                try app.activate(within: watching)
                return .runs
            } catch {
                if case .failed(let message) = error {
                    return .failed(StartFailure(message: "the session bus cannot reach \(app.name): \(message)"))
                }
            }
        }
        if let file = job.shown {
            let token = job.variables["XDG_ACTIVATION_TOKEN"]
            // If no file manager can show the item, the folder is opened.
            if (try? FileManager.show(file, token: token, within: watching)) != nil { return .runs }
        }
        guard let program = job.words.first, let path = settings.programs.find(program) else {
            return .failed(StartFailure(message: missing(job.words.first ?? "")))
        }
        let words = [path] + job.words.dropFirst()
        let unit = TransientUnit(
            name: job.unit, description: job.description, words: words, folder: job.folder,
            variables: job.variables.map { "\($0.key)=\($0.value)" })
        let noManager: String
        do throws(TransientUnit.Problem) {
            try unit.start(watching: watching)
            return .runs
        } catch {
            switch error {
            case .noManager(let reason): noManager = reason
            case .refused(let message):
                return .failed(StartFailure(message: "the service manager refused unit \(job.unit): \(message)"))
            case .ended(let message):
                return .failed(
                    StartFailure(
                        message: "\(program): \(message); for its output, run journalctl --user -u \(job.unit)"))
            }
        }
        let environment = settings.environment.merging(job.variables) { $1 }
        let home = settings.environment["HOME"].flatMap { FolderListing.isFolder($0) ? $0 : nil }
        do throws(Errno) {
            let started = try DetachedProgram.start(
                words, environment: environment, folder: job.folder ?? home ?? "/")
            return .runsDetached(started, noManager: noManager)
        } catch {
            return .failed(StartFailure(message: "cannot run \(path): \(error)"))
        }
    }

    private static func missing(_ program: String) -> String {
        program == "gio"
            ? "gio, which opens desktop entries, is not installed (package libglib2.0-bin)"
            : "the program \(program) was not found"
    }

    /// Watches a program without a unit. Reports its exit status, or success if it is still
    /// running.
    private func watch(
        _ started: DetachedProgram.Started, _ program: String,
        _ completion: @escaping (Result<Void, StartFailure>) -> Void
    ) {
        var completion: ((Result<Void, StartFailure>) -> Void)? = completion
        func report(_ result: Result<Void, StartFailure>) {
            let call = completion
            completion = nil
            call?(result)
        }
        do {
            let timer = loop.timer(after: Self.watching) { report(.success(())) }
            try DetachedProgram(started, on: loop) { status in
                timer.cancel()
                switch status {
                case 0: report(.success(()))
                case 256...:
                    report(.failure(StartFailure(message: "\(program) was terminated by signal \(status - 256)")))
                default: report(.failure(StartFailure(message: "\(program) ended with status \(status)")))
                }
            }
        } catch {
            // The program runs, but its end cannot be observed.
            report(.success(()))
        }
    }
}
