package import HandoffModel

/// `Peer`: a device that is reachable now, or a static address to be reached.
package struct ControlPeer: ControlValue {
    /// The source of a peer. The raw value is the field `via`.
    package enum Source: String, Codable, Sendable, CaseIterable {
        /// It announces itself on the network.
        case mdns
        /// It sent an advert before its announcement was received.
        case advert
        /// Its address was configured manually.
        case `static`
    }

    /// Its id, or nil until the address responds.
    package var device: DeviceID?
    /// Its name, if known.
    package var name: String?
    /// The address in use, or the configured one.
    package var address: String?
    /// The source of the peer.
    package var via: ReplyWord<Source>
    /// True if a connection is open.
    package var connected: Bool
    /// The number of activities it offers.
    package var activities: Int

    package init(
        device: DeviceID?, name: String?, address: String?, via: Source, connected: Bool, activities: Int
    ) {
        self.device = device
        self.name = name
        self.address = address
        self.via = ReplyWord(via)
        self.connected = connected
        self.activities = activities
    }
}
