/// What is advertised of the activities here; the raw values are the words of the configuration file.
package enum AdvertisePolicy: String, Sendable, CaseIterable {
    /// Activities are announced by multicast DNS and by datagrams to each known device.
    case all

    /// The multicast record says only that a device is here and never changes with what its user does; activities are
    /// told to known devices alone.
    case beaconOnly = "beacon-only"

    /// Nothing is advertised.
    case off
}
