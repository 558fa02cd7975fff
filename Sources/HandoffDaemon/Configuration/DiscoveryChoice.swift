/// The method of discovering other devices. The raw values are used in the configuration file.
package enum DiscoveryChoice: String, Sendable, CaseIterable {
    /// Use the system's Avahi if it runs or can be started, and the embedded responder otherwise.
    case auto

    /// Use only the system's avahi-daemon.
    case avahi

    /// Use only the daemon's own responder.
    case embedded

    /// Use only peers that are configured or were added manually.
    case `static`
}
