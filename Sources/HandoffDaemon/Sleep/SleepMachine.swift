package import HandoffDesktop
import LoopIO
package import Timing

/// What this device says of the sleep of its machine, and how long that holds sleep up. Plain values with time as a parameter.
///
/// Diagram: `docs/state-machines/sleep.md`.
package struct SleepMachine: Sendable {
    /// How long sleep is held up at most; logind waits for 5 s, unless it is configured otherwise.
    package static let patience = Duration.seconds(1)

    /// What the driver is to do.
    package enum Action: Equatable, Sendable {
        /// Tell the others that this device goes to sleep, and call `deadlinePassed` at this moment.
        case tell(until: MonotonicInstant)
        /// Let the machine sleep.
        case allow
        /// Tell the others that this device is there.
        case announce
    }

    private enum State {
        /// The state while the machine is awake.
        case awake
        /// The state while the others are told.
        case telling(until: MonotonicInstant)
        /// The state from when the others know, or had their time, until the machine is awake again.
        case asleep
    }

    private var state = State.awake

    package init() {}

    /// What logind says has come.
    package mutating func take(_ sleep: MachineSleep, now: MonotonicInstant) -> Action? {
        switch (state, sleep) {
        case (.awake, .awake): return nil
        case (.awake, .imminent):
            state = .telling(until: now + Self.patience)
            return .tell(until: now + Self.patience)
        case (.telling, .imminent), (.asleep, .imminent): return nil
        case (.telling, .awake), (.asleep, .awake):
            state = .awake
            return .announce
        }
    }

    /// All the others know.
    package mutating func allKnow() -> Action? {
        switch state {
        case .telling:
            state = .asleep
            return .allow
        case .awake, .asleep: return nil
        }
    }

    /// The moment of `tell` has come.
    package mutating func deadlinePassed(now: MonotonicInstant) -> Action? {
        switch state {
        case .telling(let until): return now >= until ? allKnow() : nil
        case .awake, .asleep: return nil
        }
    }
}
