import CAvahi
import CLinux
import Glibc
package import HandoffModel
import LoopIO

/// Avahi's simple poll loop, with additional watches and timers. It belongs to one discovery thread
/// and must not leave it.
package final class DiscoveryLoop {
    private final class Watch {
        let handler: () -> Void
        var handle: OpaquePointer?

        init(_ handler: @escaping () -> Void) { self.handler = handler }
    }

    private let poll: OpaquePointer
    private let timerDescriptor: Int32
    private var watches: [Watch] = []
    private var timers: [ObjectIdentifier: DiscoveryTimer] = [:]
    private var armed: MonotonicInstant?
    /// True after `finish` has been called.
    private(set) var isFinished = false

    /// Returns nil if resources are exhausted.
    init?() {
        guard let poll = avahi_simple_poll_new() else { return nil }
        self.poll = poll
        self.timerDescriptor = clinux_timer()
        guard timerDescriptor >= 0 else {
            avahi_simple_poll_free(poll)
            return nil
        }
        watch(timerDescriptor) { [unowned self] in fireTimers() }
    }

    /// The time since boot, including suspend.
    package var now: MonotonicInstant { MonotonicInstant(nanoseconds: clinux_boot_time()) }

    /// The loop's `const AvahiPoll *`, for the constructors of Avahi's objects. Valid until the
    /// loop ends.
    package var avahiPoll: UnsafeRawPointer { UnsafeRawPointer(avahi_simple_poll_get(poll)) }

    /// Calls `handler` in every turn in which the descriptor is readable, until the loop ends. The
    /// caller still owns the descriptor and closes it afterwards.
    func watch(_ descriptor: Int32, handler: @escaping () -> Void) {
        let watch = Watch(handler)
        // Unretained is safe: the loop owns the watch, and frees Avahi's watch first.
        let context = Unmanaged.passUnretained(watch).toOpaque()
        let api = avahi_simple_poll_get(poll)
        watch.handle = api?.pointee.watch_new(
            api, descriptor, AVAHI_WATCH_IN,
            { _, _, _, context in
                guard let context else { return }
                Unmanaged<Watch>.fromOpaque(context).takeUnretainedValue().handler()
            }, context)
        watches.append(watch)
    }

    /// Creates a timer that is not set.
    package func timer(_ handler: @escaping () -> Void) -> DiscoveryTimer { DiscoveryTimer(loop: self, handler) }

    /// Ends the loop after this turn.
    package func finish() { isFinished = true }

    /// Waits for the next events and handles them. Returns false if the loop cannot continue.
    func turn() -> Bool { avahi_simple_poll_iterate(poll, -1) == 0 }

    /// Frees everything. No other call may follow.
    func close() {
        let api = avahi_simple_poll_get(poll)
        for watch in watches { api?.pointee.watch_free(watch.handle) }
        watches = []
        timers = [:]
        avahi_simple_poll_free(poll)
        Glibc.close(timerDescriptor)
    }

    /// Called by a timer when its deadline has changed.
    func schedule(_ timer: DiscoveryTimer) {
        timers[ObjectIdentifier(timer)] = timer.deadline == nil ? nil : timer
        arm()
    }

    private func fireTimers() {
        var count: UInt64 = 0
        _ = read(timerDescriptor, &count, MemoryLayout.size(ofValue: count))
        armed = nil
        let now = now
        let due = timers.values.compactMap { timer in timer.deadline.map { (deadline: $0, timer: timer) } }
            .filter { $0.deadline <= now }.sorted { $0.deadline < $1.deadline }
        // A timer that fired before may have stopped this one.
        for (_, timer) in due where timer.isDue(at: now) { timer.fire() }
        arm()
    }

    /// Sets the one timer descriptor to the earliest deadline.
    private func arm() {
        let next = timers.values.compactMap(\.deadline).min()
        guard next != armed else { return }
        armed = next
        // 0 would disarm it.
        let wait = next.map { max(($0 - now).wholeNanoseconds, 1) } ?? 0
        // If arming failed, retry at the next change.
        if clinux_timer_arm(timerDescriptor, UInt64(clamping: wait)) != 0 { armed = nil }
    }
}

/// A one-shot timer of a `DiscoveryLoop`, on the clock since boot, which cannot be set. It must be
/// used on the loop's thread. The loop retains a timer that is set.
package final class DiscoveryTimer {
    private unowned let loop: DiscoveryLoop
    private let handler: () -> Void
    /// The time at which it fires; nil while it is not set.
    private(set) var deadline: MonotonicInstant?

    init(loop: DiscoveryLoop, _ handler: @escaping () -> Void) {
        self.loop = loop
        self.handler = handler
    }

    /// Sets the timer, or stops it for nil.
    package func set(_ deadline: MonotonicInstant?) {
        guard deadline != self.deadline else { return }
        self.deadline = deadline
        loop.schedule(self)
    }

    func isDue(at now: MonotonicInstant) -> Bool { deadline.map { $0 <= now } ?? false }

    func fire() {
        deadline = nil
        loop.schedule(self)
        handler()
    }
}
