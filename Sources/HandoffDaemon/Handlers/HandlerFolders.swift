package import HandoffHandlers
package import HandoffLog
package import LoopIO

/// Keeps what the apps of this device declare: reads it on a thread of its own, and again after a change. Lives on the
/// daemon's loop.
package final class HandlerFolders {
    /// How long changes gather: installing a package touches many files.
    private static let debounce = Duration.milliseconds(250)
    /// How many files that cannot be used are named at a time.
    static let maximumProblems = 32

    private let loop: EventLoop
    private let log: Logger
    private let reader: HandlerReader
    private let onChange: () -> Void
    private let onClaims: (ClaimHistory) -> Void
    private var worker: Worker?
    private var watch: FolderWatch?
    private var timer: LoopTimer?
    private var isReading = false
    private var mustReadAgain = false
    /// Files that cannot be used, each with what is wrong.
    private(set) var problems: Set<String> = []
    /// What was read last, with those that the user has switched off.
    package private(set) var registry = HandlerRegistry()

    /// - Parameters:
    ///   - history: which app claimed what first, as it is stored.
    ///   - onClaims: stores that there were new claims.
    ///   - onChange: called when what would open something here may have changed.
    package init(
        loop: EventLoop, log: Logger, places: HandlerPlaces, history: ClaimHistory,
        onClaims: @escaping (ClaimHistory) -> Void, onChange: @escaping () -> Void
    ) {
        self.loop = loop
        self.log = log
        self.onClaims = onClaims
        self.onChange = onChange
        registry.history = history
        reader = HandlerReader(places: places)
    }

    /// Begins to read and to watch.
    package func start() {
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
    package func stop() {
        timer = nil
        watch = nil
        worker = nil
    }

    /// Takes which apps the user has switched off.
    package func setDisabled(_ apps: Set<AppID>) {
        registry.disabled = apps
    }

    private func changed() {
        guard timer == nil else { return }
        timer = try? loop.timer(after: Self.debounce) { [weak self] in
            self?.timer = nil
            self?.read()
        }
        // Without a timer nothing gathers.
        if timer == nil { read() }
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
        tell(found.problems)
        var next = found.registry
        next.disabled = registry.disabled
        next.history = registry.history
        if next.history.take(next.handlers) { onClaims(next.history) }
        if next != registry {
            registry = next
            log.info("Read what apps declare", ["apps": "\(registry.handlers.count)"])
            onChange()
        }
        // What a folder got between the reading and the watch is seen by reading once more.
        if watch?.setFolders(found.watched) ?? false { mustReadAgain = true }
        if mustReadAgain {
            mustReadAgain = false
            read()
        }
    }

    private func tell(_ present: Set<String>) {
        for problem in present.subtracting(problems).sorted().prefix(Self.maximumProblems) {
            log.error("An app's file was skipped: \(problem)")
        }
        problems = present
    }
}
