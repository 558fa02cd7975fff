import Foundation

/// The events of a stream on the run loops on which it is scheduled.
///
/// Unchecked: what changes is only touched with the lock held. The stream is only called on a run loop on which its owner has
/// scheduled it, and a run loop takes timers from any thread (CFRunLoopAddTimer).
final class RunLoopEvents: @unchecked Sendable {
    /// A run loop, and a timer that never fires but keeps it waiting: one without a source would end, or spin.
    private struct Schedule {
        let loop: RunLoop
        let mode: RunLoop.Mode
        let keeper: Timer
    }

    /// Seconds until the timer that never fires would fire.
    private static let never = 3e9

    private let lock = NSLock()
    private weak var stream: Stream?
    private var schedules: [Schedule] = []

    /// The events of a stream that is not scheduled.
    init() {}

    deinit {
        removeAll()
    }

    /// Whether it is scheduled anywhere.
    var isScheduled: Bool { lock.withLock { !schedules.isEmpty } }

    /// Sets whose events they are.
    func attach(_ stream: Stream) { lock.withLock { self.stream = stream } }

    /// Schedules the stream.
    func add(_ loop: RunLoop, _ mode: RunLoop.Mode) {
        lock.withLock {
            guard !schedules.contains(where: { $0.loop === loop && $0.mode == mode }) else { return }
            let keeper = Timer(timeInterval: Self.never, repeats: true) { _ in }
            loop.add(keeper, forMode: mode)
            schedules.append(Schedule(loop: loop, mode: mode, keeper: keeper))
        }
    }

    /// Schedules it no more.
    func remove(_ loop: RunLoop, _ mode: RunLoop.Mode) {
        remove { $0.loop === loop && $0.mode == mode }
    }

    /// Schedules it nowhere any more.
    func removeAll() { remove { _ in true } }

    private func remove(_ isMeant: (Schedule) -> Bool) {
        lock.withLock {
            for schedule in schedules where isMeant(schedule) { schedule.keeper.invalidate() }
            schedules.removeAll(where: isMeant)
        }
    }

    /// Tells the delegate on the first run loop; several would tell it several times.
    /// - Parameter check: asked there, right before: false when the event is of no interest any more.
    /// - Returns: whether it is scheduled anywhere.
    @discardableResult
    func post(_ event: Stream.Event, if check: @escaping @Sendable () -> Bool) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        guard let place = schedules.first else { return false }
        // A timer and not `perform`, which does not wake a run loop that waits.
        let timer = Timer(timeInterval: 0, repeats: false) { [weak self] _ in
            guard let self, check(), let stream = lock.withLock({ self.stream }) else { return }
            stream.delegate?.stream(stream, handle: event)
        }
        place.loop.add(timer, forMode: place.mode)
        return true
    }
}
