/// Why a call into one of Avahi's libraries failed; one case per reaction.
package enum MulticastError: Error, Equatable, Sendable {
    /// Nobody is there or nobody answers: the library must be closed. The text is Avahi's.
    case disconnected(String)
    /// The names are taken, by us or on this machine.
    case collision(String)
    /// This one call failed; another may work later.
    case refused(String)

    /// Avahi's text.
    package var reason: String {
        switch self {
        case .disconnected(let reason), .collision(let reason), .refused(let reason): reason
        }
    }
}
