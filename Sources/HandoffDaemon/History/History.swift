import HandoffControl
import HandoffControlServer
import HandoffLog
import LoopIO
import Timing

/// The log of continuations, and who follows it. Lives on the daemon's loop; the file is written by the worker.
///
/// What is noted waits a moment for what is noted after it. So a continuation is answered before the disk is asked for anything,
/// and several of them cost it one write.
final class History {
    private let loop: EventLoop
    private let worker: Worker
    private let log: Logger
    private let file: HistoryFile
    private let wallClock: any WallClock
    private var followers: [ObjectIdentifier: ControlCall] = [:]
    private var pace = HistoryRateLimiter()
    private var timer: LoopTimer?
    private var hasFailed = false
    /// What the worker was not given yet.
    private var unwritten: [ControlLogEntry] = []
    private var writeTimer: LoopTimer?
    /// How long that waits. Nobody sees the difference, and a continuation is over by then.
    private static let delay = Duration.milliseconds(20)
    /// Entries that wait for the disk.
    private var waiting = 0
    /// The most of them: a disk that hangs must not fill the memory.
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

    /// Adds an entry, with the time as it is now.
    func note(_ entry: ControlLogEntry) {
        var entry = entry
        entry.time = Double(wallClock.unixSeconds)
        // What begins here is as often as the user and the apps want; what others begin has its pace.
        guard entry.direction == .out else { return write(entry) }
        if let entry = pace.take(entry, at: loop.now) { write(entry) }
        armTimer()
    }

    /// `ReadLog`.
    func read(_ call: ControlCall) throws {
        let after = try Fields(call.parameters).optionalInteger("after") ?? 0
        page(after: after, call) { call.reply($0.json) }
    }

    /// `FollowLog`: what is there after a number, and then what comes.
    func follow(_ call: ControlCall) throws {
        guard call.wantsMore else { throw CallError.control(.expectedMore) }
        let after = try Fields(call.parameters).optionalInteger("after") ?? 0
        let key = ObjectIdentifier(call)
        call.onClosed = { [weak self] in self?.followers[key] = nil }
        // What is written before this is read is in the file; what comes after it is told by then.
        page(after: after, call) { [weak self] page in
            for entry in page.entries { call.replyContinuing(entry.json) }
            if call.isOpen { self?.followers[key] = call }
        }
    }

    /// Writes what waits, and calls `completion` when all that was noted is on the disk, or could not be written.
    func finish(_ completion: @escaping () -> Void) {
        for entry in pace.drain() { write(entry) }
        timer = nil
        flush()
        // Behind all that the worker has to write.
        worker.run({}, on: loop) { _ in completion() }
    }

    private func write(_ entry: ControlLogEntry) {
        guard waiting < Self.maxWaiting else { return failed("too many entries wait for the disk") }
        unwritten.append(entry)
        if unwritten.count >= HistoryFile.maxTogether { return flush() }
        if writeTimer == nil { writeTimer = loop.timer(after: Self.delay) { [weak self] in self?.flush() } }
    }

    /// Has the worker write what waits for that.
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
        guard let next = pace.next else { return timer = nil }
        if timer == nil { timer = loop.timer(after: .zero) { [weak self] in self?.writeDue() } }
        timer?.rearm(at: next)
    }

    private func writeDue() {
        for entry in pace.due(at: loop.now) { write(entry) }
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

    /// Says once that nothing can be written: the disk may be full for days.
    private func failed(_ reason: String) {
        if !hasFailed { log.error("Cannot write the log of continuations", ["error": reason]) }
        hasFailed = true
    }
}
