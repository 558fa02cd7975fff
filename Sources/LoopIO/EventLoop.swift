import CLinux
import CSystemd
import Glibc
package import HandoffModel
import Synchronization

/// A single-threaded event loop for descriptors, timers and signals (libsystemd's sd-event,
/// level-triggered epoll), which is also the executor of an actor. Everything the actor owns is
/// accessed by the loop's thread only.
///
/// The thread that created the loop owns it until `run` is called; then the thread inside `run`
/// does. Other threads may only call `perform`, `enqueue`, `stop` and `now`. The owner calls the
/// handlers, one at a time, never from inside the call that registered them. A loop that is
/// released with work in its inbox never runs that work.
///
/// Unchecked: `inbox`, `clock`, `wakeDescriptor` and `owner` may be used by all threads. Only the
/// owner accesses everything else.
package final class EventLoop: SerialExecutor, @unchecked Sendable {
    typealias TimerToken = TimerQueue<() -> Void>.Token

    /// The size of the loop's only read buffer, so that memory does not grow with connections. Four
    /// times 64 KiB uses a fifth less processor time per GiB than 64 KiB; small reads do not touch
    /// the rest.
    static let scratchSize = 256 * 1024

    /// The maximum number of consecutive turns with a refused timer. More are not caused by a clock
    /// jump.
    private static let maxRefusedTurns = 8

    /// The sd-event object, for C libraries that it drives. It exists as long as the loop.
    package let event: OpaquePointer
    /// Waits for descriptors instead of sd-event, if a short delay of their handlers matters.
    let poll: DescriptorPoll?
    /// The buffer for reads. Its content is meaningless after a handler was called.
    let scratch: UnsafeMutableRawBufferPointer
    private let inbox = Inbox()
    private let clock: ManualClock?
    /// The owner's pthread_self().
    private let owner: Atomic<UInt>
    /// The eventfd that interrupts a wait.
    private let wakeDescriptor: Descriptor
    /// The number of consecutive turns in which a timer was refused.
    private var refusedTurns = 0
    /// The number of waits that have ended. Tests use it to detect busy loops.
    package private(set) var turns: UInt64 = 0
    /// The number of results that workers owe this loop. Tests use it to detect that nothing is in progress.
    package internal(set) var pendingResults = 0
    /// The work that the loop's handlers have deferred.
    private var postponed: [() -> Void] = []
    private var timers = TimerQueue<() -> Void>()
    /// The only sd-event timer, armed for the first of ours: sd-event does not order timers that
    /// are due together. nil with a manual clock.
    private var timerSource: OpaquePointer?
    /// The first timer has changed since sd-event's timer was armed.
    private var isTimerSourceStale = true
    /// The inotify instance that all folder watches share, while there are any.
    private weak var folderEvents: FolderEvents?

    /// Creates a loop that the current thread owns.
    /// - Parameters:
    ///   - clock: a clock controlled by a test; nil for the system clock.
    ///   - isDirect: true to wait for descriptors without sd-event, which shortens the time until
    ///     their handlers are called. No C library may then use `event`.
    /// - Throws: an error of eventfd(2) or sd_event_new(3), in practice too many open files.
    package init(clock: ManualClock? = nil, isDirect: Bool = false) throws(Errno) {
        wakeDescriptor = Descriptor(owning: try SystemCall.retrying { clinux_eventfd() })
        var event: OpaquePointer?
        try Errno.check(sd_event_new(&event))
        guard let event else { throw .invalidArgument }
        self.event = event
        poll = isDirect ? try DescriptorPoll(with: try Errno.check(sd_event_get_fd(event))) : nil
        self.clock = clock
        owner = Atomic(UInt(pthread_self()))
        scratch = .allocate(byteCount: Self.scratchSize, alignment: 16)
        // A floating source (no pointer is kept) lives as long as the sd-event object. Errors from
        // here on run deinit.
        try Errno.check(
            sd_event_add_io(event, nil, wakeDescriptor.raw, IOEvents.readable.rawValue, didWake, nil))
        guard let clock else {
            let context = Unmanaged.passUnretained(self).toOpaque()
            // Unretained: deinit releases the source. It does not fire until a timer sets it.
            try Errno.check(
                sd_event_add_time(event, &timerSource, CLOCK_BOOTTIME, .max, 1, didReachDeadline, context))
            return
        }
        clock.onAdvance { [weak self] in self?.fireDueTimersLater() }
    }

    deinit {
        sd_event_source_disable_unref(timerSource)
        sd_event_unref(event)
        scratch.deallocate()
    }

    /// The time since the machine started, including sleep. May be used on any thread.
    package var now: MonotonicInstant {
        if let clock { return clock.now }
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        // A library that shifts clocks may return a time before the machine's start.
        guard time.tv_sec >= 0 else { return MonotonicInstant(nanoseconds: 0) }
        return MonotonicInstant(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }

    // MARK: Running

    /// Makes the current thread the owner and handles events until `stop`. It may be called again
    /// after it has returned.
    ///
    /// If `stop` was called before, it returns after running the pending work.
    /// - Throws: an error of epoll_wait(2), caused by a bug or by lack of memory.
    package func run() throws(Errno) {
        inbox.setRunning(true) { owner.store(UInt(pthread_self()), ordering: .releasing) }
        defer { inbox.setRunning(false) {} }
        while true {
            runInbox()
            if inbox.takeStop() {
                // Run the items that were added before the stop, during the work above.
                runInbox()
                return
            }
            let timeout: UInt64 = postponed.isEmpty && inbox.prepareToWait() ? .max : 0
            let isTimerChanged = isTimerSourceStale
            armTimerSource()
            // sd-event arms its kernel timer only before a wait of its own.
            if let poll, !isTimerChanged {
                try directTurn(poll, forever: timeout > 0)
            } else {
                try turn(poll == nil ? timeout : 0)
            }
            turns &+= 1
        }
    }

    /// Waits for events and handles them.
    ///
    /// If an interposed library shifts the clocks (libfaketime), a jump past the first timer yields
    /// a timer value before the machine's start, which timerfd_settime(2) refuses. sd-event then
    /// skips arming for one turn, in which it finds the timer due.
    private func turn(_ timeout: UInt64) throws(Errno) {
        let result = sd_event_run(event, timeout)
        guard result == -EINVAL, refusedTurns < Self.maxRefusedTurns else {
            refusedTurns = 0
            try Errno.check(result)
            return
        }
        refusedTurns += 1
        let second = sd_event_run(event, 0)
        if second != -EINVAL { try Errno.check(second) }
        // The timer may not be armed.
        isTimerSourceStale = true
    }

    /// Waits for an event of a descriptor or of sd-event, and handles it.
    private func directTurn(_ poll: DescriptorPoll, forever: Bool) throws(Errno) {
        guard let (context, events) = try poll.wait(forever: forever) else { return }
        guard let context else { return try turn(0) }
        EventSource.deliver(events, to: context)
    }

    /// Makes `run` return after the current handler and the work that was submitted before. May be
    /// called on any thread.
    package func stop() {
        if inbox.requestStop(isOnLoop: { isOwned }) { wake() }
    }

    /// Calls `work` on the loop's thread, after all work submitted earlier. May be called on any
    /// thread.
    package func perform(_ work: @escaping @Sendable () -> Void) {
        if inbox.add(.work(work), isOnLoop: { isOwned }) { wake() }
    }

    /// Calls `work` after the current handler has returned, without a system call. Call it on the
    /// loop's thread only, so that `work` may capture anything the loop's thread owns. Other
    /// threads use `perform`.
    package func later(_ work: @escaping () -> Void) {
        assertOwned()
        postponed.append(work)
    }

    /// Runs the items that were queued at the start. Items that they add run after the descriptors
    /// were polled again.
    private func runInbox() {
        let executor = asUnownedSerialExecutor()
        for item in inbox.take() {
            switch item {
            case .job(let job): job.runSynchronously(on: executor)
            case .work(let work): work()
            }
        }
        guard !postponed.isEmpty else { return }
        let work = postponed
        postponed = []
        for body in work { body() }
    }

    /// Returns the folder event source that all watches of this loop share.
    /// - Throws: an error of inotify_init1(2): this user has too many instances (EMFILE).
    func sharedFolderEvents() throws(Errno) -> FolderEvents {
        assertOwned()
        if let folderEvents { return folderEvents }
        let events = try FolderEvents(on: self)
        folderEvents = events
        return events
    }

    private func wake() {
        var one: UInt64 = 1
        // Fails only if 2^64 wake-ups are pending.
        _ = write(wakeDescriptor.raw, &one, MemoryLayout<UInt64>.size)
    }

    // MARK: Executor

    /// Accepts a job of an actor that runs on this loop. The concurrency runtime calls it on any
    /// thread.
    package func enqueue(_ job: consuming ExecutorJob) {
        if inbox.add(.job(UnownedJob(job)), isOnLoop: { isOwned }) { wake() }
    }

    /// Traps if the caller is not on the loop's thread. `assumeIsolated` of an actor on this loop
    /// calls it.
    package func checkIsolated() {
        precondition(isOwned, "called outside the loop's thread")
    }

    /// Returns true on the loop's thread, so that C callbacks can assume the actor's isolation.
    package func isIsolatingCurrentContext() -> Bool? {
        isOwned
    }

    /// True if the current thread owns the loop.
    package var isOwned: Bool {
        owner.load(ordering: .acquiring) == UInt(pthread_self())
    }

    /// Gives up ownership before another thread calls `run`, so that the current thread is not
    /// taken for the loop's in between.
    func disown() {
        // Not the number of any thread: pthread_t is an address.
        owner.store(0, ordering: .releasing)
    }

    /// Traps in debug builds if another thread uses the loop's state. While the loop does not run,
    /// any thread may.
    func assertOwned() {
        assert(isOwned || !inbox.isRunning, "used outside the loop's thread")
    }

    // MARK: Sources

    /// Watches a descriptor, level-triggered: the handler is called repeatedly as long as the
    /// condition holds.
    ///
    /// The caller keeps the descriptor, and must cancel the source before closing it.
    /// - Returns: the watch, which ends when it is released.
    /// - Throws: EEXIST if the loop already watches the descriptor, EPERM for a regular file.
    package func watch(
        _ descriptor: Int32, _ events: IOEvents, handler: @escaping (IOEvents) -> Void
    ) throws(Errno) -> EventSource {
        assertOwned()
        return try EventSource(loop: self, descriptor: descriptor, events: events, handler: handler)
    }

    /// Calls the handler once, `delay` from now. Timers fire in order of their deadlines.
    /// - Parameter accuracy: the maximum additional delay, which lets the processor wake less
    ///   often.
    /// - Returns: the timer, which is disarmed when it is released.
    package func timer(
        after delay: Duration, accuracy: Duration = .milliseconds(1), handler: @escaping () -> Void
    ) -> LoopTimer {
        LoopTimer(loop: self, after: delay, accuracy: accuracy, handler: handler)
    }

    /// Calls the handler each time a signal arrives. Signals in quick succession may be merged into
    /// one call.
    /// - Throws: EBUSY if the signal is not blocked, see `ProcessSignals`.
    package func signal(_ number: Int32, handler: @escaping () -> Void) throws(Errno) -> EventSource {
        assertOwned()
        return try EventSource(loop: self, signal: number, handler: handler)
    }

    /// Sends watchdog notifications from this loop, if the service manager requests them
    /// (sd_event_set_watchdog(3)).
    /// - Returns: true if it does.
    @discardableResult
    package func startWatchdog() throws(Errno) -> Bool {
        assertOwned()
        return try Errno.check(sd_event_set_watchdog(event, 1)) > 0
    }

    // MARK: Timers

    func arm(at deadline: MonotonicInstant, accuracy: Duration, handler: @escaping () -> Void) -> TimerToken {
        assertOwned()
        let token = timers.add(handler, at: deadline, accuracy: accuracy)
        timersChanged()
        return token
    }

    func disarm(_ token: TimerToken) {
        assertOwned()
        timers.remove(token)
        timersChanged()
    }

    /// Calls the handlers of due timers that were armed before. A timer that re-arms itself for now
    /// fires in the next turn.
    fileprivate func fireDueTimers() {
        let now = self.now
        let mark = timers.mark
        while let handler = timers.popDue(at: now, before: mark) {
            handler()
        }
        timersChanged()
    }

    /// Fires due timers after a manual clock's step. Weak, so that pending work does not retain the
    /// loop.
    private func fireDueTimersLater() {
        perform { [weak self] in self?.fireDueTimers() }
    }

    /// Records that the first timer may have changed. The system timer is updated before the next
    /// wait, once for all changes until then.
    private func timersChanged() {
        isTimerSourceStale = true
        // A timer for now or the past fires although the manual clock does not advance.
        guard let clock, let first = timers.earliest(), first.deadline <= clock.now else { return }
        fireDueTimersLater()
    }

    /// Sets sd-event's timer from the queue. Makes no system call: sd-event arms the kernel timer
    /// before it waits.
    private func armTimerSource() {
        guard isTimerSourceStale else { return }
        isTimerSourceStale = false
        guard let timerSource else { return }
        guard let first = timers.earliest() else {
            sd_event_source_set_enabled(timerSource, Int32(SD_EVENT_OFF))
            return
        }
        // Rounded up: a timer that fires early would find no due handler.
        let microseconds = first.deadline.nanoseconds / 1000 + 1
        // 0 would mean sd-event's default of 250 ms.
        let accuracy = UInt64(max(1, first.accuracy.wholeNanoseconds / 1000))
        sd_event_source_set_time(timerSource, microseconds)
        sd_event_source_set_time_accuracy(timerSource, accuracy)
        sd_event_source_set_enabled(timerSource, Int32(SD_EVENT_ONESHOT))
    }
}

/// Called by sd-event after another thread has written to the eventfd. The run loop then reads the
/// inbox.
private func didWake(_: OpaquePointer?, descriptor: Int32, _: UInt32, _: UnsafeMutableRawPointer?) -> Int32 {
    var count: UInt64 = 0
    // One read clears all wake-ups so far; EWOULDBLOCK only means that there was none.
    _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
    return 0
}

/// Called by sd-event when the first timer is due.
private func didReachDeadline(_: OpaquePointer?, _: UInt64, context: UnsafeMutableRawPointer?) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<EventLoop>.fromOpaque(context).takeUnretainedValue().fireDueTimers()
    return 0
}
