import HandoffHandlers
import LoopIO

/// Tracks the declarations of this device's apps. Reads them on a thread of its own, initially and
/// after each change. Lives on the loop's thread.
final class HandlerFolders {
    /// The time to collect changes: installing a package changes many files.
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
    /// Unusable files, each with its error.
    private(set) var problems: Set<String> = []
    /// True if the folders have been read.
    private(set) var isRead = false
    /// The most recently read apps.
    private(set) var registry = HandlerRegistry()

    /// - Parameter service: Notified after the first reading, and when the apps or the unusable
    ///   files have changed.
    init(loop: EventLoop, log: Logger, places: HandlerPaths, service: DesktopService) {
        self.loop = loop
        self.log = log
        self.service = service
        reader = HandlerReader(places: places)
    }

    /// Starts reading and watching.
    func start() {
        do {
            worker = try Worker(name: "handlers")
            watch = try FolderWatch(on: loop) { [weak self] in self?.changed() }
        } catch {
            log.error(
                "Cannot watch app declarations; newly installed apps will not be detected", ["error": "\(error)"])
        }
        read()
    }

    /// Stops. The result of a reading in progress is ignored.
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
        let isChanged = !isRead || found.registry != registry || found.problems != problems
        report(found.problems)
        isRead = true
        if isChanged {
            registry = found.registry
            log.info("Read app declarations", ["apps": "\(registry.handlers.count)"])
            service?.appsChanged()
        }
        // Another reading finds files that were added before the watch was set.
        if watch?.setFolders(found.watched) ?? false { mustReadAgain = true }
        if mustReadAgain {
            mustReadAgain = false
            read()
        }
    }

    private func report(_ present: Set<String>) {
        for problem in present.subtracting(problems).sorted().prefix(InstalledApps.maxProblems) {
            log.error("Skipped an app file: \(problem)")
        }
        problems = present
    }
}
