/// Why a device is no longer there.
package enum DepartureReason: Sendable, Equatable {
    /// It said so itself.
    case goodbye

    /// Nothing was heard of it for ten minutes.
    case silent

    /// Probes remained unanswered, or a call failed as well as a probe.
    case unreachable

    /// It is no longer live in the roster.
    case removed
}
