/// The version of the project. A test compares all other files that contain it with this one.
package enum Version {
    /// The version as in the change log: major, minor, patch.
    package static let number = "0.9.0"
    /// The name and version of the daemon, as reported to other devices and clients.
    package static let daemon = "handoffd/" + number
}
