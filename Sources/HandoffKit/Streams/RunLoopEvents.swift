import Foundation

/// Delivers the events of a stream on the run loops on which it is scheduled.
///
/// Unchecked: mutable state is only accessed with the lock held. The stream is only called on a run
/// loop on which its owner has scheduled it. A run loop accepts timers from any thread
/// (CFRunLoopAddTimer).
final class RunLoopEvents: @unchecked Sendable {
    /// A run loop, and a timer that never fires but keeps the loop waiting: without a source, it
    /// would end or spin.
    private struct Schedule {
        let loop: RunLoop
        let mode: RunLoop.Mode
        let keeper: Timer
    }

    /// The interval, in seconds, of the timer that never fires.
    private static let never = 3e9

    private let lock = NSLock()
    private weak var stream: Stream?
    private var schedules: [Schedule] = []

    init() {}

    deinit {
        removeAll()
    }

    var isScheduled: Bool { lock.withLock { !schedules.isEmpty } }

    func attach(_ stream: Stream) { lock.withLock { self.stream = stream } }

    func add(_ loop: RunLoop, _ mode: RunLoop.Mode) {
        lock.withLock {
            guard !schedules.contains(where: { $0.loop === loop && $0.mode == mode }) else { return }
            let keeper = Timer(timeInterval: Self.never, repeats: true) { _ in }
            loop.add(keeper, forMode: mode)
            schedules.append(Schedule(loop: loop, mode: mode, keeper: keeper))
        }
    }

    func remove(_ loop: RunLoop, _ mode: RunLoop.Mode) {
        remove { $0.loop === loop && $0.mode == mode }
    }

    func removeAll() { remove { _ in true } }

    private func remove(_ shouldRemove: (Schedule) -> Bool) {
        lock.withLock {
            for schedule in schedules where shouldRemove(schedule) { schedule.keeper.invalidate() }
            schedules.removeAll(where: shouldRemove)
        }
    }

    /// Notifies the delegate, on the first run loop only, so that it is notified once.
    /// - Parameter check: called there, immediately before; false if the event is obsolete.
    /// - Returns: whether the stream is scheduled on any run loop.
    @discardableResult
    func post(_ event: Stream.Event, if check: @escaping @Sendable () -> Bool) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        guard let place = schedules.first else { return false }
        // Use a timer because `perform` does not wake a waiting run loop.
        let timer = Timer(timeInterval: 0, repeats: false) { [weak self] _ in
            guard let self, check(), let stream = lock.withLock({ self.stream }) else { return }
            stream.delegate?.stream(stream, handle: event)
        }
        place.loop.add(timer, forMode: place.mode)
        return true
    }
}
