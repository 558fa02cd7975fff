package import Timing

/// A clock that stands still until a test moves it; loops that were made with it take their time from it.
///
/// Any thread may use it. Several loops may share one, so that two daemons in a test live in the same time.
package final class ManualClock: Sendable {
    private struct State {
        var now: MonotonicInstant
        /// Weak, so that a clock does not keep a test's loops alive.
        var wakes: [@Sendable () -> Void] = []
    }

    private let state: Locked<State>

    /// - Parameter now: where it starts; not zero, so that "a minute ago" exists.
    package init(now: MonotonicInstant = MonotonicInstant(nanoseconds: 1_000_000_000_000)) {
        state = Locked(State(now: now))
    }

    /// The time that every loop of this clock sees.
    package var now: MonotonicInstant {
        state.withLock { $0.now }
    }

    /// Moves time on; each loop then fires its due timers, in order of their deadlines, on its own thread.
    package func advance(by duration: Duration) {
        let wakes = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            return state.wakes
        }
        for wake in wakes { wake() }
    }

    /// Has `wake` called after each step, on the thread of `advance`.
    func onAdvance(_ wake: @escaping @Sendable () -> Void) {
        state.withLock { $0.wakes.append(wake) }
    }
}
