import CLinux
import CSystemd
import Glibc
import Synchronization
package import Timing

/// One thread that waits for descriptors, timers and signals (libsystemd's sd-event, level-triggered epoll) and is the
/// executor of an actor, so that everything the actor owns is touched by that thread only.
///
/// The thread that made the loop owns it until `run`; then the thread inside `run` does. Other threads may only call
/// `perform`, `enqueue`, `stop` and `now`. Handlers are called by the owner, one at a time, never from inside the call
/// that registered them. A loop that is let go with work in its inbox never does it.
///
/// Unchecked: `inbox`, `clock`, `wakeDescriptor` and `owner` are for all threads, everything else is only
/// touched by the owner.
package final class EventLoop: SerialExecutor, @unchecked Sendable {
    typealias TimerToken = TimerQueue<() -> Void>.Token

    /// Reads of streams and datagrams go through one buffer per loop: memory does not grow with connections. Four times
    /// 64 KiB cost a fifth less processor time per GiB than 64 KiB; small reads leave the rest of it untouched.
    static let scratchSize = 256 * 1024

    /// Times in a row that the kernel may refuse to arm a timer: more is no jump of the clock.
    private static let maxRefusedTurns = 8

    /// The sd-event object, for C libraries that are driven by it; it lives as long as the loop.
    package let event: OpaquePointer
    /// Where bytes are read to; its content is of no meaning once a handler was called.
    let scratch: UnsafeMutableRawBufferPointer
    private let inbox = Inbox()
    private let clock: ManualClock?
    /// pthread_self() of the owner.
    private let owner: Atomic<UInt>
    /// The eventfd that ends a wait.
    private let wakeDescriptor: Descriptor
    /// Turns in a row for which a timer was refused.
    private var refusedTurns = 0
    /// How often a wait has ended, which tells a test whether something spins.
    package private(set) var turns: UInt64 = 0
    /// What the loop's own handlers have put off.
    private var postponed: [() -> Void] = []
    private var timers = TimerQueue<() -> Void>()
    /// sd-event's one timer, armed for the first of ours: sd-event does not order timers that are due together. nil with a
    /// manual clock.
    private var timerSource: OpaquePointer?
    /// Whether the first timer is another one since sd-event's was armed.
    private var isTimerSourceStale = true
    /// What all watches of folders share, while there is one.
    private weak var folderEvents: FolderEvents?

    /// Makes a loop that this thread owns.
    /// - Parameter clock: a clock that a test moves; nil for the system's.
    /// - Throws: an error of eventfd(2) or sd_event_new(3), in practice too many open files.
    package init(clock: ManualClock? = nil) throws(Errno) {
        wakeDescriptor = Descriptor(owning: try SystemCall.retrying { clinux_eventfd() })
        var event: OpaquePointer?
        try Errno.check(sd_event_new(&event))
        guard let event else { throw .invalidArgument }
        self.event = event
        self.clock = clock
        owner = Atomic(UInt(pthread_self()))
        scratch = .allocate(byteCount: Self.scratchSize, alignment: 16)
        // A floating source (no pointer kept) lives as long as the sd-event object. Errors from here on run deinit.
        try Errno.check(
            sd_event_add_io(event, nil, wakeDescriptor.raw, IOEvents.readable.rawValue, didWake, nil))
        guard let clock else {
            let context = Unmanaged.passUnretained(self).toOpaque()
            // Unretained: deinit releases the source. It never fires until a timer sets it.
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

    /// The time since the machine was started, including sleep. Any thread may ask.
    package var now: MonotonicInstant {
        if let clock { return clock.now }
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        // A library that shifts clocks may set it to a time before the start.
        guard time.tv_sec >= 0 else { return MonotonicInstant(nanoseconds: 0) }
        return MonotonicInstant(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }

    // MARK: Running

    /// Makes this thread the owner and handles events until `stop`. May be called again after it has returned.
    ///
    /// A stop that was requested before makes it return after the work that waits.
    /// - Throws: an error of epoll_wait(2), which is a bug or a lack of memory.
    package func run() throws(Errno) {
        inbox.setRunning(true) { owner.store(UInt(pthread_self()), ordering: .releasing) }
        defer { inbox.setRunning(false) {} }
        while true {
            runInbox()
            if inbox.takeStop() {
                // What was asked for before the stop, while the work above was done.
                runInbox()
                return
            }
            let timeout: UInt64 = postponed.isEmpty && inbox.prepareToWait() ? .max : 0
            armTimerSource()
            try turn(timeout)
            turns &+= 1
        }
    }

    /// Waits for events, and handles them.
    ///
    /// If a library in between shifts the clocks (libfaketime), a jump ahead of the first timer makes its time one before the
    /// start of the machine, which timerfd_settime(2) refuses. sd-event gives that up for one turn, in which it finds the timer due.
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
        // It may not be armed.
        isTimerSourceStale = true
    }

    /// Has `run` return after the handler that runs now, and the work that was asked for before. Any thread may call it.
    package func stop() {
        if inbox.requestStop(isOnLoop: { isOwned }) { wake() }
    }

    /// Has the loop's thread call `work`, after what was asked for earlier. Any thread may call it.
    package func perform(_ work: @escaping @Sendable () -> Void) {
        if inbox.add(.work(work), isOnLoop: { isOwned }) { wake() }
    }

    /// Calls `work` once this handler has returned, without a system call. On the loop's thread only, so that the work
    /// may be anything that belongs to it; `perform` is for other threads.
    package func later(_ work: @escaping () -> Void) {
        assertOwned()
        postponed.append(work)
    }

    /// Runs the items that were there at the start: those that they add come after the next look at the descriptors.
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

    /// What is told of folders, for all watches of this loop.
    /// - Throws: an error of inotify_init1(2): this user has too many (EMFILE).
    func sharedFolderEvents() throws(Errno) -> FolderEvents {
        assertOwned()
        if let folderEvents { return folderEvents }
        let events = try FolderEvents(on: self)
        folderEvents = events
        return events
    }

    private func wake() {
        var one: UInt64 = 1
        // Fails only when 2^64 wake-ups wait.
        _ = write(wakeDescriptor.raw, &one, MemoryLayout<UInt64>.size)
    }

    // MARK: Executor

    /// Takes a job of an actor that runs on this loop. Called by the concurrency runtime on any thread.
    package func enqueue(_ job: consuming ExecutorJob) {
        if inbox.add(.job(UnownedJob(job)), isOnLoop: { isOwned }) { wake() }
    }

    /// Traps when the caller is not the loop's thread; `assumeIsolated` of an actor on this loop asks here.
    package func checkIsolated() {
        precondition(isOwned, "called outside the loop's thread")
    }

    /// Whether the caller is the loop's thread, so that C callbacks may assume the actor's isolation.
    package func isIsolatingCurrentContext() -> Bool? {
        isOwned
    }

    /// Whether this thread owns the loop.
    package var isOwned: Bool {
        owner.load(ordering: .acquiring) == UInt(pthread_self())
    }

    /// Gives up ownership before another thread calls `run`, so that this one is not taken for the loop's meanwhile.
    func disown() {
        // No thread has this number: pthread_t is an address.
        owner.store(0, ordering: .releasing)
    }

    /// Traps in debug builds when another thread touches what belongs to the loop's thread. A loop that does not run
    /// belongs to whoever takes it apart.
    func assertOwned() {
        assert(isOwned || !inbox.isRunning, "used outside the loop's thread")
    }

    // MARK: Sources

    /// Watches a descriptor, level-triggered: the handler is called again as long as the state holds.
    ///
    /// The descriptor stays the caller's, who cancels the source before closing it.
    /// - Returns: the watch, which ends with it.
    /// - Throws: EEXIST when the loop watches the descriptor already, EPERM for a plain file.
    package func watch(
        _ descriptor: Int32, _ events: IOEvents, handler: @escaping (IOEvents) -> Void
    ) throws(Errno) -> EventSource {
        assertOwned()
        return try EventSource(loop: self, descriptor: descriptor, events: events, handler: handler)
    }

    /// Calls the handler once, `delay` from now. Timers fire in order of their deadlines.
    /// - Parameter accuracy: how much later it may fire, so that the processor wakes less often.
    /// - Returns: the timer, which is disarmed when it is dropped.
    package func timer(
        after delay: Duration, accuracy: Duration = .milliseconds(1), handler: @escaping () -> Void
    ) -> LoopTimer {
        LoopTimer(loop: self, after: delay, accuracy: accuracy, handler: handler)
    }

    /// Calls the handler for each arrival of a signal; arrivals in quick succession may count once.
    /// - Throws: EBUSY when the signal is not blocked, see `ProcessSignals`.
    package func signal(_ number: Int32, handler: @escaping () -> Void) throws(Errno) -> EventSource {
        assertOwned()
        return try EventSource(loop: self, signal: number, handler: handler)
    }

    /// Answers the service manager's watchdog from this loop, when it has one for us (sd_event_set_watchdog(3)).
    /// - Returns: whether it has.
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

    /// Calls the handlers that are due and were armed before: one that re-arms itself for now waits for its turn.
    fileprivate func fireDueTimers() {
        let now = self.now
        let mark = timers.mark
        while let handler = timers.popDue(at: now, before: mark) {
            handler()
        }
        timersChanged()
    }

    /// For a manual clock, which no descriptor tells of. Weak: what waits in the inbox must not keep the loop.
    private func fireDueTimersLater() {
        perform { [weak self] in self?.fireDueTimers() }
    }

    /// The first timer may be another one now. The system's clock is asked before the next wait, once for all changes until then.
    private func timersChanged() {
        isTimerSourceStale = true
        // A timer for now or the past fires although nobody moves the clock.
        guard let clock, let first = timers.earliest(), first.deadline <= clock.now else { return }
        fireDueTimersLater()
    }

    /// Sets sd-event's timer from the queue. No system call: sd-event passes it to the kernel before it waits.
    private func armTimerSource() {
        guard isTimerSourceStale, let timerSource else { return }
        isTimerSourceStale = false
        guard let first = timers.earliest() else {
            sd_event_source_set_enabled(timerSource, Int32(SD_EVENT_OFF))
            return
        }
        // Rounded up: a timer that fires early would find nothing due.
        let microseconds = first.deadline.nanoseconds / 1000 + 1
        // 0 would mean sd-event's default of 250 ms.
        let accuracy = UInt64(max(1, first.accuracy.wholeNanoseconds / 1000))
        sd_event_source_set_time(timerSource, microseconds)
        sd_event_source_set_time_accuracy(timerSource, accuracy)
        sd_event_source_set_enabled(timerSource, Int32(SD_EVENT_ONESHOT))
    }
}

/// Called by sd-event when another thread has written to the eventfd: the run loop then looks into the inbox.
private func didWake(_: OpaquePointer?, descriptor: Int32, _: UInt32, _: UnsafeMutableRawPointer?) -> Int32 {
    var count: UInt64 = 0
    // One read takes all wake-ups so far; would-block only means that there was none.
    _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
    return 0
}

/// Called by sd-event at the deadline of the first timer.
private func didReachDeadline(_: OpaquePointer?, _: UInt64, context: UnsafeMutableRawPointer?) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<EventLoop>.fromOpaque(context).takeUnretainedValue().fireDueTimers()
    return 0
}
