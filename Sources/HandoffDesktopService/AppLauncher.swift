import DesktopBus
package import HandoffDesktop
package import HandoffHandlers
package import HandoffLog
package import HandoffModel
package import LoopIO

/// Starts apps and the browser. Lives on the loop's thread.
///
/// Each start is one unit of the user's service manager, or where there is none a process of its own. Nothing that another
/// device sent is part of it but the address of a page, as `WebPage` has it, as one argument. Diagram:
/// `docs/state-machines/launching.md`.
package final class AppLauncher {
    /// What a start needs of this process. Plain values.
    package struct Settings: Sendable {
        /// Where the launchers are looked for.
        package let programs: ProgramSearch
        /// The variables of what is started by ourselves; a manager has its own.
        package let environment: [String: String]
        /// Where apps find the daemon, if not in the usual place.
        package let socket: String?

        /// - Parameters:
        ///   - environment: our own; what a service manager says to us alone is left out.
        ///   - socket: the path of a socket that is in no usual place.
        package init(environment: [String: String], socket: String?) {
            programs = ProgramSearch(path: environment["PATH"])
            self.environment = environment.filter { !Self.ours.contains($0.key) }
            self.socket = socket
        }

        /// What a service manager tells one service (systemd.exec(5), sd_listen_fds(3), sd_notify(3)), and a desktop one
        /// program.
        private static let ours: Set<String> = Set([
            "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_PID", "WATCHDOG_USEC",
            "STATE_DIRECTORY", "RUNTIME_DIRECTORY", "CONFIGURATION_DIRECTORY", "CACHE_DIRECTORY", "LOGS_DIRECTORY",
            "CREDENTIALS_DIRECTORY", "INVOCATION_ID", "JOURNAL_STREAM", "SYSTEMD_EXEC_PID", "MANAGERPID", "MAINPID",
        ]).union(ActivationToken.variableNames)
    }

    /// One start, as its thread gets it.
    private struct Job: Sendable {
        let unit: String
        let description: String
        /// Who is asked first; without a bus the words are run.
        let app: BusApp?
        let words: [String]
        /// Working directory of the words; nil means the home directory.
        let folder: String?
        let variables: [String: String]
        /// What the file manager is asked to show first; where there is none that can, the words are run.
        let shown: String?
    }

    /// How a job went, as far as its thread knows.
    private enum Outcome: Sendable {
        /// In a unit of its own, or of the bus.
        case runs
        case runsDetached(DetachedProgram.Started, noManager: String)
        case failed(StartFailure)
    }

    /// How long a program is watched: launchers end at once, and say by their status when they could do nothing.
    private static let watching = Duration.seconds(3)
    /// Starts that may be under way at a time; each has a thread.
    private static let maxJobs = 8

    private let loop: EventLoop
    private let log: Logger
    private let settings: Settings
    private var jobs = 0

    package init(loop: EventLoop, log: Logger, settings: Settings) {
        self.loop = loop
        self.log = log
        self.settings = settings
    }

    /// Starts an app.
    ///
    /// - Parameters:
    ///   - type: what it is to continue, for `HANDOFF_ACTIVITY_TYPE`; named only where the app declares it.
    ///   - token: lets the app come to the front.
    ///   - completion: called once: when the launcher has done its work, or is still at it after three seconds.
    package func launch(
        _ handler: Handler, for type: ActivityType, token: ActivationToken? = nil,
        completion: @escaping (Result<Void, StartFailure>) -> Void
    ) {
        let words: [String]
        var folder: String?
        var app: BusApp?
        switch handler.launch {
        case .desktopEntry(let path): words = ["gio", "launch", path]
        case .bus(let name, let path):
            // Not by gio launch: it ends before what it has asked the bus for was sent (GLib 2.74).
            app = BusApp(name: name.text, path: name.path, token: token?.text)
            words = ["gio", "launch", path]
        case .command(let command, let path): (words, folder) = (command, path)
        case .elsewhere:
            return completion(.failure(StartFailure(message: "how it is started is not known here")))
        }
        var variables = token?.variables ?? [:]
        // The registry's own text: what the other device sent goes nowhere.
        if let declared = handler.types.first(where: { $0 == type }) {
            variables["HANDOFF_ACTIVITY_TYPE"] = declared.text
        }
        log.notice("Starts an app", ["app": handler.id.text])
        start(words, of: handler.id, description: handler.name, app: app, folder: folder, variables, completion)
    }

    /// Opens a page in the user's browser.
    ///
    /// - Parameters:
    ///   - token: lets the browser come to the front.
    ///   - completion: called once: when the opener has done its work, or is still at it after three seconds.
    package func open(
        _ page: WebPage, token: ActivationToken? = nil, completion: @escaping (Result<Void, StartFailure>) -> Void
    ) {
        guard let browser = AppID("browser"), let opener = PageOpener.find(in: settings.programs) else {
            let message = "neither xdg-open nor gio is there; install xdg-utils"
            return completion(.failure(StartFailure(message: message)))
        }
        start(
            opener + [page.argument], of: browser, description: "Web page from another device", app: nil,
            token?.variables ?? [:], completion)
    }

    /// Opens a file or folder with the program that the user has for it, or shows it in its folder.
    ///
    /// - Parameters:
    ///   - shows: whether it is only shown in its folder, as is done with everything that is not known as a document.
    ///   - token: lets the program come to the front.
    ///   - completion: called once: when the opener has done its work, or is still at it after three seconds.
    package func open(
        _ file: ReceivedFile, shows: Bool, token: ActivationToken? = nil,
        completion: @escaping (Result<Void, StartFailure>) -> Void
    ) {
        guard let id = AppID(shows ? "folder" : "file"), let opener = PageOpener.find(in: settings.programs) else {
            let message = "neither xdg-open nor gio is there; install xdg-utils"
            return completion(.failure(StartFailure(message: message)))
        }
        guard let kind = file.kind(in: DocumentTypes(environment: settings.environment)) else {
            return completion(.failure(StartFailure(message: "it is not there any more, or is no file")))
        }
        let shows = shows || kind == .runnable
        start(
            opener + [shows ? file.folder : file.path], of: id, description: "What came from another device", app: nil,
            shown: shows ? file.path : nil, token?.variables ?? [:], completion)
    }

    private func start(
        _ words: [String], of id: AppID, description: String, app: BusApp?, folder: String? = nil,
        shown: String? = nil, _ variables: [String: String],
        _ completion: @escaping (Result<Void, StartFailure>) -> Void
    ) {
        guard jobs < Self.maxJobs else {
            return completion(.failure(StartFailure(message: "\(jobs) programs are being started already")))
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
            // The thread ends with its worker.
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

    /// On a thread of its own.
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
            // Where no file manager can, the folder is opened.
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
                    StartFailure(message: "\(program): \(message); what it said: journalctl --user -u \(job.unit)"))
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
            ? "the program gio, which opens desktop entries, is not installed (package libglib2.0-bin)"
            : "there is no program \(program)"
    }

    /// A program without a unit: its end tells how it went, and so does that it runs on.
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
                case 256...: report(.failure(StartFailure(message: "\(program) was ended by signal \(status - 256)")))
                default: report(.failure(StartFailure(message: "\(program) ended with status \(status)")))
                }
            }
        } catch {
            // It runs; nobody learns how it ends.
            report(.success(()))
        }
    }
}
