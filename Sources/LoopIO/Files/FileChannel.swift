import CLinux
import Glibc

/// What a file's thread and its owner on the loop share: blocks in both directions, and how it ends.
///
/// The thread belongs to nobody: when the owner lets go, it ends as soon as the kernel lets it, closes the file and is gone.
/// Nobody ever waits for it.
final class FileChannel: Sendable {
    /// What the thread shall do next.
    enum Next: Sendable {
        /// Fill or write this block.
        case block(FileBlock)
        /// Everything was written: end in order.
        case finish
        /// The owner has let go.
        case cancel
    }

    private struct State {
        var toThread: [FileBlock] = []
        var toLoop: [FileBlock] = []
        var isFinishing = false
        var isCancelled = false
        /// Bytes that were read or written so far.
        var moved: Int64 = 0
        var outcome: Result<Int64, Errno>?
        /// Whether the loop has been asked to look here and has not done so: wake-ups are coalesced.
        var isPosted = false
    }

    /// So many of these threads may live in the process, hung ones included.
    private static let threadLimit = 64
    /// How many of them may have files of one source, so that files that hang leave threads for those of others.
    private static let threadLimitOfSource = 32
    private static let threads = Locked([DescriptorSource: Int]())

    private let state = Locked(State())
    private let loop: EventLoop
    /// Leads back to the owner: called on the loop when something has changed. The thread holds the box, which the owner empties when
    /// it lets go, so that nothing of the loop's is released on the thread.
    let onProgress: LoopBound<(() -> Void)?>
    /// The eventfd that ends a wait of the thread.
    private let wake: Descriptor

    /// On the loop's thread.
    init(loop: EventLoop) throws(Errno) {
        self.loop = loop
        onProgress = LoopBound(nil, on: loop)
        wake = Descriptor(owning: try SystemCall.retrying { clinux_eventfd() })
    }

    // MARK: The owner's side

    /// Starts the thread, which takes the file's descriptor.
    /// - Parameters:
    ///   - reportsClose: whether an error of close(2) is an outcome: only then did some file systems tell of a full disk.
    ///   - work: reads or writes the descriptor with this number; returns nil when it was cancelled.
    /// - Throws: `wouldBlock` (EAGAIN) when too many of them live, as pthread_create(3) does, or too many of the source of this file. The file stays the caller's.
    func start(
        name: String, file: PassedFile, reportsClose: Bool, work: @escaping @Sendable (Int32) -> Result<Int64, Errno>?
    ) throws(Errno) {
        guard file.raw != nil else { throw .badDescriptor }
        let source = file.source
        let hasPlace = Self.threads.withLock { threads in
            guard threads[source, default: 0] < Self.threadLimitOfSource,
                threads.values.reduce(0, +) < Self.threadLimit
            else { return false }
            threads[source, default: 0] += 1
            return true
        }
        guard hasPlace else { throw .wouldBlock }
        do throws(Errno) {
            _ = try OwnedThread(name: name, niceness: ThreadPriority.bulk) { [self] in
                let outcome = Self.work(on: file, reportsClose: reportsClose, work)
                Self.leave(source)
                if let outcome { end(outcome) }
            }
        } catch {
            Self.leave(source)
            throw error
        }
    }

    /// Gives a block to the thread.
    func give(_ block: FileBlock) {
        state.withLock { $0.toThread.append(block) }
        signal()
    }

    /// Takes the first block that the thread has given back.
    func takeBlock() -> FileBlock? {
        state.withLock { $0.toLoop.isEmpty ? nil : $0.toLoop.removeFirst() }
    }

    /// Whether a block is there to take.
    var hasBlock: Bool { state.withLock { !$0.toLoop.isEmpty } }

    /// How it has ended, once it has.
    var outcome: Result<Int64, Errno>? { state.withLock { $0.outcome } }

    /// Bytes that were read or written so far.
    var moved: Int64 { state.withLock { $0.moved } }

    /// No more blocks come: the thread ends after those that it has.
    func finish() {
        state.withLock { $0.isFinishing = true }
        signal()
    }

    /// Has the thread end as soon as it can; nobody is told.
    func cancel() {
        state.withLock { $0.isCancelled = true }
        signal()
    }

    private func signal() {
        var one: UInt64 = 1
        // Fails only when 2^64 wake-ups wait.
        _ = write(wake.raw, &one, MemoryLayout<UInt64>.size)
    }

    // MARK: The thread's side

    /// Waits until there is something to do.
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

    /// Waits until a descriptor is ready (poll(2)). Returns false when the owner has let go instead.
    func waitUntilReady(_ descriptor: Int32, _ events: Int32) throws(Errno) -> Bool {
        var watched = [
            pollfd(fd: wake.raw, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: Int16(events), revents: 0),
        ]
        while true {
            try wait(&watched)
            if state.withLock({ $0.isCancelled }) { return false }
            // Errors and the end too: the next call tells which.
            if watched[1].revents != 0 { return true }
        }
    }

    /// Waits for any of these, the first of which is the eventfd. What it was written for is found in the state.
    private func wait(_ watched: inout [pollfd]) throws(Errno) {
        let count = nfds_t(watched.count)
        try SystemCall.retrying { poll(&watched, count, -1) }
        guard watched[0].revents != 0 else { return }
        var signals: UInt64 = 0
        // Takes all wake-ups so far.
        _ = read(wake.raw, &signals, MemoryLayout<UInt64>.size)
    }

    /// Counts bytes that were moved.
    func add(moved: Int) {
        state.withLock { $0.moved += Int64(moved) }
    }

    /// Gives a block back to the loop.
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

    /// Does the thread's work, and closes the file or has it closed.
    private static func work(
        on file: PassedFile, reportsClose: Bool, _ work: (Int32) -> Result<Int64, Errno>?
    ) -> Result<Int64, Errno>? {
        var signals = sigset_t()
        sigfillset(&signals)
        // Other threads handle signals; a SIGPIPE is then nothing but the error of write(2).
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        guard let descriptor = file.take() else { return .failure(.badDescriptor) }
        let outcome = work(descriptor.raw)
        guard reportsClose, case .success = outcome else {
            // Nobody needs to know how that goes, and it may hang.
            DescriptorCloser.close(descriptor, from: file.source)
            return outcome
        }
        guard Glibc.close(descriptor.release()) != 0 else { return outcome }
        let error = Errno.current
        // Interrupted: it is closed, and the file system has not said that anything failed.
        return error == .interrupted ? outcome : .failure(error)
    }

    private static func leave(_ source: DescriptorSource) {
        threads.withLock { threads in
            let count = threads[source, default: 1] - 1
            threads[source] = count > 0 ? count : nil
        }
    }
}
