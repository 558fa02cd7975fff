package import HandoffModel

/// `Peer`: a device that is reachable now, or a static address that is to be reached.
package struct ControlPeer: ControlValue {
    /// How a peer is known; the raw value is the field `via`.
    package enum Source: String, Codable, Sendable, CaseIterable {
        /// It announces itself on the network.
        case mdns
        /// It sent an advert before its announcement was seen.
        case advert
        /// Its address was given by hand.
        case `static`
    }

    /// Its id, or nil while the address has not answered.
    package var device: DeviceID?
    /// Its name, if it is known.
    package var name: String?
    /// The address in use, or the one that was given.
    package var address: String?
    /// How it is known.
    package var via: Source
    /// Whether a connection is open.
    package var connected: Bool
    /// How many activities it offers.
    package var activities: Int

    /// A peer with these properties.
    package init(
        device: DeviceID?, name: String?, address: String?, via: Source, connected: Bool, activities: Int
    ) {
        self.device = device
        self.name = name
        self.address = address
        self.via = via
        self.connected = connected
        self.activities = activities
    }
}
