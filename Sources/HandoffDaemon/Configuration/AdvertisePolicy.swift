/// The advertised part of this device's activities. The raw values are used in the configuration
/// file.
package enum AdvertisePolicy: String, Sendable, CaseIterable {
    /// Announce activities by multicast DNS and by datagrams to each known device.
    case all

    /// Announce only the presence of a device in the multicast record, which never changes with the
    /// user's activities. Send activities only to known devices.
    case beaconOnly = "beacon-only"

    /// Advertise nothing.
    case off
}
