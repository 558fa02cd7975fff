package import HandoffHandlers
package import HandoffModel
import LoopIO

/// Announces the sleep of the machine to the other devices, and bounds the delay of that sleep.
/// Plain values with time as a parameter.
///
/// `handoff-desktop` follows logind's `PrepareForSleep` and `PrepareForShutdown`, and delays both by
/// locks of the kind `delay`. A shutdown is handled like sleep. `DesktopSleep` passes both to the
/// daemon, where `SleepWatch` drives the machine.
///
/// ```
///          imminent / notify              all know, or 1 s / allow
/// awake ─────────────────────► notifying ───────────────────────► asleep
///   ▲                             │                                  │ ⟲ imminent / allow
///   └─────────────────────────────┴──────────────────────────────────┘
///              awake, or the desktop is lost / announce
/// ```
///
/// - `notify`: the driver sends a leave message with the sleep flag, withdraws the record and closes
///   the connections.
/// - `allow`: the driver ends the connection to the desktop, and with it the lock.
/// - `announce`: the driver takes a new label and sends everything again.
///
/// All other events have no effect. logind waits for at most 5 s (`InhibitDelayMaxSec`) in any
/// case. Between `allow` and the sleep itself, and after it until logind reports the end, the
/// device responds as a sleeping one. Without logind no device is notified, and the machine counts
/// as awake.
package struct SleepMachine: Sendable {
    /// The maximum delay of sleep: 2 s until the activities are kept, and 1 s for the leave message.
    /// logind waits for 5 s, unless configured otherwise.
    package static let leaveTimeout = Duration.seconds(3)

    /// The next action of the driver.
    package enum Action: Equatable, Sendable {
        /// Notify the others that this device goes to sleep, and call `deadlinePassed` at this
        /// time.
        case notify(until: MonotonicInstant)
        /// Allow the machine to sleep.
        case allow
        /// Notify the others that this device is awake.
        case announce
    }

    private enum State {
        /// The machine is awake.
        case awake
        /// The others are being notified.
        case notifying(until: MonotonicInstant)
        /// The others have been notified, or the deadline has passed, and the machine has not woken
        /// since.
        case asleep
    }

    private var state = State.awake

    package init() {}

    /// True while the others are being notified.
    package var isNotifying: Bool {
        if case .notifying = state { return true }
        return false
    }

    /// Handles a report of logind.
    package mutating func take(_ sleep: MachineSleep, now: MonotonicInstant) -> Action? {
        switch (state, sleep) {
        case (.awake, .awake): return nil
        case (.awake, .imminent):
            state = .notifying(until: now + Self.leaveTimeout)
            return .notify(until: now + Self.leaveTimeout)
        case (.notifying, .imminent): return nil
        // The machine has woken for so short a time that logind's two reports arrived together, or
        // it goes to sleep in two steps. The others know.
        case (.asleep, .imminent): return .allow
        case (.notifying, .awake), (.asleep, .awake):
            state = .awake
            return .announce
        }
    }

    /// Handles the notification of all others.
    package mutating func allKnow() -> Action? {
        switch state {
        case .notifying:
            state = .asleep
            return .allow
        case .awake, .asleep: return nil
        }
    }

    /// Handles the deadline for notifying the others.
    package mutating func deadlinePassed(now: MonotonicInstant) -> Action? {
        switch state {
        case .notifying(let until): return now >= until ? allKnow() : nil
        case .awake, .asleep: return nil
        }
    }
}
