import HandoffDesktop
import HandoffHandlers
import HandoffLog
import LoopIO

/// Keeps what the apps of this device declare: reads it on a thread of its own, and again after a change. Lives on the
/// loop's thread.
final class HandlerFolders {
    /// How long changes gather: installing a package touches many files.
    private static let debounce = Duration.milliseconds(250)

    private let loop: EventLoop
    private let log: Logger
    private let reader: HandlerReader
    private weak var service: DesktopService?
    private var worker: Worker?
    private var watch: FolderWatch?
    private var timer: LoopTimer?
    private var isReading = false
    private var mustReadAgain = false
    /// Files that cannot be used, each with what is wrong.
    private(set) var problems: Set<String> = []
    /// Whether the folders were read.
    private(set) var isRead = false
    /// What was read last.
    private(set) var registry = HandlerRegistry()

    /// - Parameter service: told after the first reading, and when what is read, or what cannot be, has changed.
    init(loop: EventLoop, log: Logger, places: HandlerPaths, service: DesktopService) {
        self.loop = loop
        self.log = log
        self.service = service
        reader = HandlerReader(places: places)
    }

    /// Begins to read and to watch.
    func start() {
        do {
            worker = try Worker(name: "handlers")
            watch = try FolderWatch(on: loop) { [weak self] in self?.changed() }
        } catch {
            log.error(
                "Cannot watch what apps declare: what is installed from now on is not seen", ["error": "\(error)"])
        }
        read()
    }

    /// Ends; a reading that is under way leads to nothing.
    func stop() {
        timer = nil
        watch = nil
        worker = nil
    }

    private func changed() {
        guard timer == nil else { return }
        timer = loop.timer(after: Self.debounce) { [weak self] in
            self?.timer = nil
            self?.read()
        }
    }

    private func read() {
        guard !isReading else {
            mustReadAgain = true
            return
        }
        guard let worker else { return }
        isReading = true
        worker.run({ [reader] in reader.read() }, on: loop) { [weak self] result in
            guard let self, case .success(let found) = result else { return }
            isReading = false
            take(found)
        }
    }

    private func take(_ found: HandlerReader.Found) {
        guard worker != nil else { return }
        let isNews = !isRead || found.registry != registry || found.problems != problems
        tell(found.problems)
        isRead = true
        if isNews {
            registry = found.registry
            log.info("Read what apps declare", ["apps": "\(registry.handlers.count)"])
            service?.appsChanged()
        }
        // What a folder got between the reading and the watch is seen by reading once more.
        if watch?.setFolders(found.watched) ?? false { mustReadAgain = true }
        if mustReadAgain {
            mustReadAgain = false
            read()
        }
    }

    private func tell(_ present: Set<String>) {
        for problem in present.subtracting(problems).sorted().prefix(InstalledApps.maxProblems) {
            log.error("An app's file was skipped: \(problem)")
        }
        problems = present
    }
}
