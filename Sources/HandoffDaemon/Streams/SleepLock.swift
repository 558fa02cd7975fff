import HandoffControl
import HandoffHandlers
import HandoffModel
package import LoopIO

/// Keeps the machine awake while bytes of streams move. Lives on the daemon's loop.
///
/// Without logind, or without its permission, transfers continue without the lock.
package final class SleepLock {
    /// Requests the lock. `answer` is called once. Releasing the object in the result ends the
    /// lock.
    package typealias Taking = (_ answer: @escaping (Result<AnyObject, any Error>) -> Void) -> Void

    private let loop: EventLoop
    private let log: Logger
    private let take: Taking
    private var machine = SleepLockMachine()
    private var lock: AnyObject?
    private var timer: LoopTimer?
    private var hasFailed = false

    /// - Parameter take: requests the lock.
    package init(loop: EventLoop, log: Logger, take: @escaping Taking) {
        self.loop = loop
        self.log = log
        self.take = take
    }

    /// - Parameter desktop: requests the lock from logind, and holds it while connected; nil if
    ///   there is none.
    convenience init(loop: EventLoop, log: Logger, desktop: DesktopLink?) {
        self.init(loop: loop, log: log) { answer in
            guard let desktop else { return answer(.failure(StartFailure(message: "there is no desktop"))) }
            var holding: DesktopLink.Following?
            do throws(DesktopLink.Failure) {
                holding = try desktop.hold(.keepAwake) { result in
                    // Once: a later loss of the lock is not reported.
                    guard let held = holding else { return }
                    holding = nil
                    answer(result.map { _ in held }.mapError { $0 })
                }
            } catch {
                answer(.failure(error))
            }
        }
    }

    /// Records that bytes of a stream have moved. Inexpensive; a few calls a second are enough.
    package func transferMoved() {
        perform(machine.moved(now: loop.now))
    }

    /// Releases the lock permanently.
    package func stop() {
        perform(machine.stop())
    }

    private func perform(_ action: SleepLockMachine.Action?) {
        switch action {
        case nil: break
        case .ask: ask()
        case .release: release()
        case .wake(let moment): wake(at: moment)
        }
    }

    private func ask() {
        take { [weak self] result in
            // If this object has been released, the lock ends with the result.
            self?.answered(result)
        }
    }

    private func answered(_ result: Result<AnyObject, any Error>) {
        switch result {
        case .success(let taken): lock = taken
        case .failure(let error):
            // Once: machines without logind always fail.
            if !hasFailed { log.debug("This machine may go to sleep during transfers", ["error": "\(error)"]) }
            hasFailed = true
        }
        perform(machine.answered(given: lock != nil, now: loop.now))
    }

    private func release() {
        timer = nil
        lock = nil
    }

    private func wake(at moment: MonotonicInstant) {
        let delay = moment - loop.now
        timer = loop.timer(after: delay, accuracy: .milliseconds(500)) { [weak self] in
            guard let self else { return }
            perform(machine.deadlinePassed(now: loop.now))
        }
    }
}
