/// How one implementation fares; part of `DiscoveryEvent.state`.
package enum DiscoveryState: Sendable, Equatable {
    /// The state from the start until the first answer.
    case starting
    /// The state while it finds and publishes.
    case running
    /// The state while it cannot; it goes on trying. The text says why, as a fragment for a message.
    case unavailable(String)
}
