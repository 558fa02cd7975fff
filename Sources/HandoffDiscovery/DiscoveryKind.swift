/// Which implementation finds the devices; the raw value is what configuration, status and logs say.
package enum DiscoveryKind: String, Sendable {
    /// The system's avahi-daemon.
    case avahi = "avahi"
    /// Avahi's responder inside this process.
    case embedded = "embedded"
    /// Addresses from the configuration.
    case `static` = "static"
    /// None at present.
    case none = "none"
}
