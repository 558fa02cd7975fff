/// The version of the project, in one place: a test compares all other files that have it with this one.
package enum Version {
    /// The number, as in the change log: major, minor, patch.
    package static let number = "0.9.0"
    /// Name and number of the daemon, as other devices and clients are told.
    package static let daemon = "handoffd/" + number
}
