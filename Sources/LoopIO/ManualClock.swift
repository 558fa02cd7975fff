package import HandoffModel

/// A clock that advances only when a test moves it. Loops created with it use its time.
///
/// May be used on any thread. Several loops may share one clock, for example for two daemons in a
/// test.
package final class ManualClock: Sendable {
    private struct State {
        var now: MonotonicInstant
        /// The closures hold loops weakly, so that a clock does not retain a test's loops.
        var wakes: [@Sendable () -> Void] = []
    }

    private let state: Locked<State>

    /// - Parameter now: the initial time; not zero, so that times before it can be represented.
    package init(now: MonotonicInstant = MonotonicInstant(nanoseconds: 1_000_000_000_000)) {
        state = Locked(State(now: now))
    }

    /// The current time of every loop that uses this clock.
    package var now: MonotonicInstant {
        state.withLock { $0.now }
    }

    /// Advances the time. Each loop then fires its due timers on its own thread, in order of their
    /// deadlines.
    package func advance(by duration: Duration) {
        let wakes = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            return state.wakes
        }
        for wake in wakes { wake() }
    }

    /// Calls `wake` after each step, on the thread that calls `advance`.
    func onAdvance(_ wake: @escaping @Sendable () -> Void) {
        state.withLock { $0.wakes.append(wake) }
    }
}
