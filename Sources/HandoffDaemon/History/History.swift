import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO

/// The continuation log and its followers. Lives on the daemon's loop; the worker writes the file.
///
/// A new entry waits briefly for others. So a continuation is answered before the disk is accessed,
/// and several entries need only one write.
final class History {
    private let loop: EventLoop
    private let worker: Worker
    private let log: Logger
    private let file: HistoryFile
    private let wallClock: any WallClock
    private var followers: [ObjectIdentifier: ControlCall] = [:]
    private var limiter = HistoryRateLimiter()
    private var timer: LoopTimer?
    private var hasFailed = false
    /// Entries that the worker has not received yet.
    private var unwritten: [ControlLogEntry] = []
    private var writeTimer: LoopTimer?
    /// The time for which they wait. Users do not notice it, and the continuation has ended by
    /// then.
    private static let delay = Duration.milliseconds(20)
    /// The number of entries that wait for the disk.
    private var waiting = 0
    /// The maximum of `waiting`, so that a hanging disk does not fill the memory.
    private static let maxWaiting = 4096

    init(
        loop: EventLoop, worker: Worker, log: Logger, file: HistoryFile, wallClock: any WallClock
    ) {
        self.loop = loop
        self.worker = worker
        self.log = log
        self.file = file
        self.wallClock = wallClock
    }

    /// Adds an entry with the current time.
    func note(_ entry: ControlLogEntry) {
        var entry = entry
        entry.time = Double(wallClock.unixSeconds)
        // Continuations by other devices are rate-limited. Local ones are not.
        guard entry.direction == .out else { return write(entry) }
        if let entry = limiter.take(entry, at: loop.now) { write(entry) }
        armTimer()
    }

    /// `ReadLog`.
    func read(_ call: ControlCall) throws {
        let after = try Fields(call.parameters).optionalInteger("after") ?? 0
        page(after: after, call) { call.reply($0.json) }
    }

    /// `FollowLog`: sends the entries after a number, and then each new entry.
    func follow(_ call: ControlCall) throws {
        guard call.wantsMore else { throw CallError.control(.expectedMore) }
        let after = try Fields(call.parameters).optionalInteger("after") ?? 0
        let key = ObjectIdentifier(call)
        call.onClosed = { [weak self] in self?.followers[key] = nil }
        // The file contains all entries written before it is read. The follower receives later
        // ones.
        page(after: after, call) { [weak self] page in
            for entry in page.entries { call.replyContinuing(entry.json) }
            if call.isOpen { self?.followers[key] = call }
        }
    }

    /// Writes the pending entries. Calls `completion` when all entries are on the disk or have
    /// failed.
    func finish(_ completion: @escaping () -> Void) {
        for entry in limiter.drain() { write(entry) }
        timer = nil
        flush()
        // Runs after all pending writes of the worker.
        worker.run({}, on: loop) { _ in completion() }
    }

    private func write(_ entry: ControlLogEntry) {
        guard waiting < Self.maxWaiting else { return failed("too many entries are waiting for the disk") }
        unwritten.append(entry)
        if unwritten.count >= HistoryFile.maxTogether { return flush() }
        if writeTimer == nil { writeTimer = loop.timer(after: Self.delay) { [weak self] in self?.flush() } }
    }

    /// Passes the unwritten entries to the worker.
    private func flush() {
        writeTimer = nil
        guard !unwritten.isEmpty else { return }
        let entries = unwritten
        unwritten = []
        waiting += entries.count
        worker.run({ [file] in try file.append(entries) }, on: loop) { [weak self] result in
            guard let self else { return }
            waiting -= entries.count
            switch result {
            case .success(let written):
                hasFailed = false
                for entry in written { for call in followers.values { call.replyContinuing(entry.json) } }
            case .failure(let error): failed("\(error)")
            }
        }
    }

    private func armTimer() {
        guard let next = limiter.next else { return timer = nil }
        if timer == nil { timer = loop.timer(after: .zero) { [weak self] in self?.writeDue() } }
        timer?.rearm(at: next)
    }

    private func writeDue() {
        for entry in limiter.due(at: loop.now) { write(entry) }
        armTimer()
    }

    private func page(after: Int64, _ call: ControlCall, _ then: @escaping (ControlLogPage) -> Void) {
        flush()
        worker.run({ [file] in try file.page(after: Int(clamping: after)) }, on: loop) { result in
            switch result {
            case .success(let page): then(page)
            case .failure(let error): call.fail(error)
            }
        }
    }

    /// Logs the first of several consecutive write errors: a disk may be full for days.
    private func failed(_ reason: String) {
        if !hasFailed { log.error("Cannot write the continuation log", ["error": reason]) }
        hasFailed = true
    }
}
