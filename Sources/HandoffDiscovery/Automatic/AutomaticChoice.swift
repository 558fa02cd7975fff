package import HandoffModel
import LoopIO

/// Chooses between the system's avahi-daemon and the embedded responder. A state machine of plain
/// values. See `docs/state-machines/discovery.md`.
package struct AutomaticChoice: Sendable {
    package enum Action: Equatable, Sendable {
        case startEmbedded
        case stopEmbedded
    }

    private enum State: Equatable, Sendable {
        /// The state from the start until Avahi responds or the timeout expires.
        case starting(since: MonotonicInstant)
        case avahi
        /// The state after avahi-daemon disappeared, while it may be restarting.
        case lost(since: MonotonicInstant)
        case embedded
    }

    /// The maximum time to wait for a restarting or hanging Avahi.
    package static let timeout = Duration.seconds(10)

    private var state: State

    package init(at now: MonotonicInstant) { state = .starting(since: now) }

    /// The implementation that is used or awaited.
    package var current: DiscoveryKind { state == .embedded ? .embedded : .avahi }

    /// The time at which `timePassed` is due; nil if it is not.
    package var deadline: MonotonicInstant? {
        switch state {
        case .starting(let since), .lost(let since): since + AutomaticChoice.timeout
        case .avahi, .embedded: nil
        }
    }

    /// Handles a new state of Avahi.
    package mutating func avahiChanged(_ avahi: DiscoveryState, at now: MonotonicInstant) -> [Action] {
        switch (state, avahi) {
        case (_, .starting), (.avahi, .running), (.lost, .unavailable), (.embedded, .unavailable),
            (.embedded, .impaired):
            return []
        case (.starting, .running), (.lost, .running):
            state = .avahi
            return []
        case (.embedded, .running):
            // Switch immediately: if both ran, this responder would take avahi-daemon's unicast
            // responses.
            state = .avahi
            return [.stopEmbedded]
        case (.starting, .unavailable), (.starting, .impaired), (.avahi, .impaired), (.lost, .impaired):
            // The cause is its configuration, so waiting does not help.
            state = .embedded
            return [.startEmbedded]
        case (.avahi, .unavailable):
            state = .lost(since: now)
            return []
        }
    }

    /// The clock has advanced.
    package mutating func timePassed(at now: MonotonicInstant) -> [Action] {
        guard let deadline, deadline <= now else { return [] }
        state = .embedded
        return [.startEmbedded]
    }
}
