/// The networks in which this device is discoverable. The raw values are used in the configuration
/// file.
enum NetworkPolicy: String, Sendable, CaseIterable {
    /// All networks.
    case all

    /// Only networks that the user has marked as known.
    case known
}
