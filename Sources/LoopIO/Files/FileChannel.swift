import CLinux
import Glibc

/// The state shared by a file's thread and its owner on the loop: blocks in both directions, and
/// the outcome.
///
/// No object owns the thread. When the owner cancels, the thread closes the file and ends as soon
/// as its system call returns. No code ever waits for it.
final class FileChannel: Sendable {
    /// The next action of the thread.
    enum Next: Sendable {
        /// Fill or write this block.
        case block(FileBlock)
        /// Everything was written: end normally.
        case finish
        /// The owner has cancelled.
        case cancel
    }

    private struct State {
        var toThread: [FileBlock] = []
        var toLoop: [FileBlock] = []
        var isFinishing = false
        var isCancelled = false
        /// The number of bytes read or written so far.
        var moved: Int64 = 0
        var outcome: Result<Int64, Errno>?
        /// The loop has been scheduled to check the state and has not done so yet. Coalesces
        /// wake-ups.
        var isPosted = false
    }

    /// The maximum number of such threads in the process, including blocked ones.
    private static let threadLimit = 64
    /// The maximum number of such threads for files of one source, so that blocking files leave
    /// threads for other sources.
    private static let threadLimitOfSource = 32
    private static let threads = Locked([DescriptorSource: Int]())

    private let state = Locked(State())
    private let loop: EventLoop
    /// Calls the owner on the loop when the state has changed. The thread holds only the box. The
    /// owner empties it when it cancels, so that no object of the loop is released on the thread.
    let onProgress: LoopBound<(() -> Void)?>
    /// The eventfd that interrupts a wait of the thread.
    private let wake: Descriptor

    /// Call it on the loop's thread.
    init(loop: EventLoop) throws(Errno) {
        self.loop = loop
        onProgress = LoopBound(nil, on: loop)
        wake = Descriptor(owning: try SystemCall.retrying { clinux_eventfd() })
    }

    // MARK: The owner's side

    /// Starts the thread, which takes ownership of the file's descriptor.
    /// - Parameters:
    ///   - reportsClose: report an error of close(2) as the outcome. Some file systems report a
    ///     full disk only there.
    ///   - work: reads or writes the descriptor with the given number; returns nil if it was
    ///     cancelled.
    /// - Throws: `wouldBlock` (EAGAIN) if too many such threads exist, in total or for the source
    ///   of this file, or if pthread_create(3) fails with it. The caller then still owns the file.
    func start(
        name: String, file: PassedFile, reportsClose: Bool, work: @escaping @Sendable (Int32) -> Result<Int64, Errno>?
    ) throws(Errno) {
        guard file.raw != nil else { throw .badDescriptor }
        let source = file.source
        let isAdmitted = Self.threads.withLock { threads in
            guard threads[source, default: 0] < Self.threadLimitOfSource,
                threads.values.reduce(0, +) < Self.threadLimit
            else { return false }
            threads[source, default: 0] += 1
            return true
        }
        guard isAdmitted else { throw .wouldBlock }
        do throws(Errno) {
            _ = try OwnedThread(name: name, niceness: ThreadPriority.bulk) { [self] in
                let outcome = Self.work(on: file, reportsClose: reportsClose, work)
                Self.releaseThread(of: source)
                if let outcome { end(outcome) }
            }
        } catch {
            Self.releaseThread(of: source)
            throw error
        }
    }

    /// Passes a block to the thread.
    func give(_ block: FileBlock) {
        state.withLock { $0.toThread.append(block) }
        signal()
    }

    /// Removes and returns the first block that the thread has returned.
    func takeBlock() -> FileBlock? {
        state.withLock { $0.toLoop.isEmpty ? nil : $0.toLoop.removeFirst() }
    }

    /// True if `takeBlock` would return a block.
    var hasBlock: Bool { state.withLock { !$0.toLoop.isEmpty } }

    /// The result, after the thread's work has ended.
    var outcome: Result<Int64, Errno>? { state.withLock { $0.outcome } }

    /// The number of bytes read or written so far.
    var moved: Int64 { state.withLock { $0.moved } }

    /// Announces that no more blocks follow. The thread ends after processing the blocks it has.
    func finish() {
        state.withLock { $0.isFinishing = true }
        signal()
    }

    /// Makes the thread end as soon as possible, without a report to the owner.
    func cancel() {
        state.withLock { $0.isCancelled = true }
        signal()
    }

    private func signal() {
        var one: UInt64 = 1
        // Fails only if 2^64 wake-ups are pending.
        _ = write(wake.raw, &one, MemoryLayout<UInt64>.size)
    }

    // MARK: The thread's side

    /// Waits for the next action.
    func next() throws(Errno) -> Next {
        while true {
            let next: Next? = state.withLock { state in
                if state.isCancelled { return .cancel }
                if !state.toThread.isEmpty { return .block(state.toThread.removeFirst()) }
                return state.isFinishing ? .finish : nil
            }
            if let next { return next }
            var watched = [pollfd(fd: wake.raw, events: Int16(POLLIN), revents: 0)]
            try wait(&watched)
        }
    }

    /// Waits until a descriptor is ready (poll(2)). Returns false if the owner has cancelled
    /// instead.
    func waitUntilReady(_ descriptor: Int32, _ events: Int32) throws(Errno) -> Bool {
        var watched = [
            pollfd(fd: wake.raw, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: Int16(events), revents: 0),
        ]
        while true {
            try wait(&watched)
            if state.withLock({ $0.isCancelled }) { return false }
            // Includes errors and the end of the stream: the next call distinguishes them.
            if watched[1].revents != 0 { return true }
        }
    }

    /// Waits for any of the descriptors, the first of which is the eventfd. The state contains the
    /// reason for a wake-up.
    private func wait(_ watched: inout [pollfd]) throws(Errno) {
        let count = nfds_t(watched.count)
        try SystemCall.retrying { poll(&watched, count, -1) }
        guard watched[0].revents != 0 else { return }
        var signals: UInt64 = 0
        // Clears all wake-ups so far.
        _ = read(wake.raw, &signals, MemoryLayout<UInt64>.size)
    }

    /// Adds to `moved`.
    func add(moved: Int) {
        state.withLock { $0.moved += Int64(moved) }
    }

    /// Returns a block to the loop.
    func deliver(_ block: FileBlock) {
        post { $0.toLoop.append(block) }
    }

    private func end(_ outcome: Result<Int64, Errno>) {
        post { $0.outcome = outcome }
    }

    private func post(_ change: (inout State) -> Void) {
        let isFirst = state.withLock { state in
            change(&state)
            defer { state.isPosted = true }
            return !state.isPosted && !state.isCancelled
        }
        guard isFirst else { return }
        loop.perform { [self] in
            state.withLock { $0.isPosted = false }
            onProgress.value?()
        }
    }

    /// Runs the thread's work, then closes the file or passes it to `DescriptorCloser`.
    private static func work(
        on file: PassedFile, reportsClose: Bool, _ work: (Int32) -> Result<Int64, Errno>?
    ) -> Result<Int64, Errno>? {
        var signals = sigset_t()
        sigfillset(&signals)
        // Other threads handle signals. With SIGPIPE blocked, write(2) returns an error instead.
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        guard let descriptor = file.take() else { return .failure(.badDescriptor) }
        let outcome = work(descriptor.raw)
        guard reportsClose, case .success = outcome else {
            // The result of this close is not needed, and close(2) may block.
            DescriptorCloser.close(descriptor, from: file.source)
            return outcome
        }
        guard Glibc.close(descriptor.release()) != 0 else { return outcome }
        let error = Errno.current
        // Interrupted: the descriptor is closed, and the file system has not reported a failure.
        return error == .interrupted ? outcome : .failure(error)
    }

    private static func releaseThread(of source: DescriptorSource) {
        threads.withLock { threads in
            let count = threads[source, default: 1] - 1
            threads[source] = count > 0 ? count : nil
        }
    }
}
