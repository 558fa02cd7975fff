import LoopIO
package import Timing

/// Chooses between the system's avahi-daemon and the embedded responder; a machine of plain values. See
/// `docs/state-machines/discovery.md`.
package struct AutomaticChoice: Sendable {
    /// What to do with the embedded responder.
    package enum Action: Equatable, Sendable {
        case startEmbedded
        case stopEmbedded
    }

    private enum State: Equatable, Sendable {
        /// The state from the start until Avahi has answered, or has not for too long.
        case starting(since: MonotonicInstant)
        /// The state while avahi-daemon is used.
        case avahi
        /// The state since it went, while it may just restart.
        case lost(since: MonotonicInstant)
        /// The state while the embedded responder is used.
        case embedded
    }

    /// How long a restart of Avahi, or a hanging one, is waited for.
    package static let timeout = Duration.seconds(10)

    private var state: State

    package init(at now: MonotonicInstant) { state = .starting(since: now) }

    /// Which of the two is used, or waited for.
    package var current: DiscoveryKind { state == .embedded ? .embedded : .avahi }

    /// When `timePassed` is due; nil: never.
    package var deadline: MonotonicInstant? {
        switch state {
        case .starting(let since), .lost(let since): since + AutomaticChoice.timeout
        case .avahi, .embedded: nil
        }
    }

    /// Avahi is there, or not, or does not do its work.
    package mutating func avahiChanged(_ avahi: DiscoveryState, at now: MonotonicInstant) -> [Action] {
        switch (state, avahi) {
        case (_, .starting), (.avahi, .running), (.lost, .unavailable), (.embedded, .unavailable),
            (.embedded, .impaired):
            return []
        case (.starting, .running), (.lost, .running):
            state = .avahi
            return []
        case (.embedded, .running):
            // At once: beside it, we would take its unicast answers.
            state = .avahi
            return [.stopEmbedded]
        case (.starting, .unavailable), (.starting, .impaired), (.avahi, .impaired), (.lost, .impaired):
            // Its configuration is the cause, so that waiting does not help.
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
