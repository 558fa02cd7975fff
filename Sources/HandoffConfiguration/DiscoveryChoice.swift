/// How the other devices are to be found; the raw values are the words of the configuration file.
package enum DiscoveryChoice: String, Sendable, CaseIterable {
    /// The system's Avahi where it runs or can be started, the embedded responder elsewhere.
    case auto

    /// Only the system's avahi-daemon.
    case avahi

    /// Only the responder inside the daemon.
    case embedded

    /// Only the peers that are configured or were added by hand.
    case `static`
}
