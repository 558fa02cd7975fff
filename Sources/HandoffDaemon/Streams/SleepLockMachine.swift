package import HandoffModel
import LoopIO

/// Determines when the machine is kept awake: while bytes of streams move, and a short time after.
/// Driven by `SleepLock`, which requests the lock from systemd-logind through `handoff-desktop`.
///
/// ```
///        moved / ask              given / wake
/// idle ───────────────► asking ───────────────► held
///  ▲                      │                       │
///  │ refused: no request  │                       │ 5 s without a byte / release
///  │ for 30 s             │                       │
///  └──────────────────────┴───────────────────────┘
///        every state: stop ──► stopped (held / release)
/// ```
///
/// - Bytes that move in `asking` and `held` extend the need for the lock to 5 s from then. The
///   deadline in `held` is extended if bytes have moved since.
/// - A lock that is granted when it is no longer needed, or in any state other than `asking`, is
///   released.
///
/// A slow transfer keeps the machine awake as long as a byte moves every five seconds. Without
/// logind no lock is held, and the log reports this once, at level debug.
package struct SleepLockMachine: Sendable {
    /// The time for which the lock is held after the last byte. A transfer that waits for a slow
    /// disk or network has not ended.
    package static let timeout = Duration.seconds(5)
    /// The time without requests after a refusal. A machine without logind will not have it soon.
    package static let pause = Duration.seconds(30)

    /// The next action of the driver.
    package enum Action: Equatable, Sendable {
        /// Request the lock, and call `answered` with the result.
        case ask
        /// Release the lock.
        case release
        /// Call `deadlinePassed` at this time.
        case wake(at: MonotonicInstant)
    }

    private enum State {
        /// Nothing moves, or no request is allowed before this time.
        case idle(until: MonotonicInstant)
        /// The lock is requested. It is needed until this time.
        case asking(until: MonotonicInstant)
        /// The lock is held. It is needed until this time.
        case held(until: MonotonicInstant)
        /// The daemon stops.
        case stopped
    }

    private var state = State.idle(until: MonotonicInstant(nanoseconds: 0))

    package init() {}

    /// Records that bytes have moved.
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
            // The timer checks this when it fires. To rearm it for each byte would be too
            // expensive.
            state = .held(until: now + Self.timeout)
            return nil
        case .stopped:
            return nil
        }
    }

    /// Handles the grant or refusal of the lock.
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

    /// Handles the time of `wake`.
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

    /// Stops permanently.
    package mutating func stop() -> Action? {
        defer { state = .stopped }
        switch state {
        case .held: return .release
        case .idle, .asking, .stopped: return nil
        }
    }
}
