/// The version of the package, in one place.
package enum Version {
    /// The number, as in the change log.
    package static let number = "0.1.0"
    /// Name and number of the daemon, as other devices and clients are told.
    package static let daemon = "handoffd/" + number
}
