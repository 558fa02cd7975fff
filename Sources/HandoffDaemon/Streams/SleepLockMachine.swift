import LoopIO
package import Timing

/// When the machine is kept awake: while bytes of streams move, and a little longer.
///
/// Diagram: `docs/state-machines/sleep-lock.md`.
package struct SleepLockMachine: Sendable {
    /// How long after the last byte the lock is kept: a transfer that waits for a slow disk or network is no end.
    package static let timeout = Duration.seconds(5)
    /// How long nobody is asked after a refusal: where there is no logind, there will be none so soon.
    package static let pause = Duration.seconds(30)

    /// What the driver is to do.
    package enum Action: Equatable, Sendable {
        /// Ask for the lock; `answered` says what came of it.
        case ask
        /// Let the lock go.
        case release
        /// Call `deadlinePassed` at this moment.
        case wake(at: MonotonicInstant)
    }

    private enum State {
        /// The state while nothing moves, or nobody may be asked before this moment.
        case idle(until: MonotonicInstant)
        /// The state while the lock is asked for; it is of use until this moment.
        case asking(until: MonotonicInstant)
        /// The state while the lock is held; it is of use until this moment.
        case held(until: MonotonicInstant)
        /// The state once the daemon stops.
        case stopped
    }

    private var state = State.idle(until: MonotonicInstant(nanoseconds: 0))

    package init() {}

    /// Bytes have moved.
    package mutating func moved(now: MonotonicInstant) -> Action? {
        switch state {
        case .idle(let until):
            guard now >= until else { return nil }
            state = .asking(until: now + Self.timeout)
            return .ask
        case .asking:
            state = .asking(until: now + Self.timeout)
            return nil
        case .held:
            // The timer looks at this when it fires: arming it anew for each byte would be too much work.
            state = .held(until: now + Self.timeout)
            return nil
        case .stopped:
            return nil
        }
    }

    /// The lock was given, or refused.
    package mutating func answered(given: Bool, now: MonotonicInstant) -> Action? {
        switch state {
        case .asking(let until):
            guard given else {
                state = .idle(until: now + Self.pause)
                return nil
            }
            state = .held(until: until)
            return now < until ? .wake(at: until) : deadlinePassed(now: now)
        case .idle, .held, .stopped:
            return given ? .release : nil
        }
    }

    /// The moment of `wake` has come.
    package mutating func deadlinePassed(now: MonotonicInstant) -> Action? {
        switch state {
        case .held(let until):
            guard now >= until else { return .wake(at: until) }
            state = .idle(until: now)
            return .release
        case .idle, .asking, .stopped:
            return nil
        }
    }

    /// The daemon stops.
    package mutating func stop() -> Action? {
        defer { state = .stopped }
        switch state {
        case .held: return .release
        case .idle, .asking, .stopped: return nil
        }
    }
}
