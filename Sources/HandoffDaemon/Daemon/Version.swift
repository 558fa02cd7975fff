/// The version of this program, in one place.
package enum Version {
    /// The number, as in the change log.
    package static let number = "0.1.0"
    /// Name and number, as other devices and clients are told.
    package static let software = "handoffd/" + number
}
