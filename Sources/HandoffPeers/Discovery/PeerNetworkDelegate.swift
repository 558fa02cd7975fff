package import HandoffDiscovery
package import HandoffModel
package import HandoffProtocol

/// The daemon as the network sees it: a source of offers, and the receiver of changes. On the daemon's loop.
package protocol PeerNetworkDelegate: AnyObject {
    /// The offers of this device, most recent first, with ages as of now.
    var ownOffers: [OfferedActivity] { get }
    /// The devices that are told of no activity.
    var unadvertised: Set<DeviceID> { get }
    /// The offers of these devices have changed, or they have come or gone.
    func peersChanged(_ devices: Set<DeviceID>)
    /// A member was heard that has the key of the epoch in force.
    func heard(_ device: DeviceID)
    /// A device was heard, or its name looked up: it may be elsewhere than before.
    func addressesMayDiffer(of device: DeviceID)
    /// A device is there, or has said another thing of itself: its roster may differ from ours.
    func rosterMayDiffer(_ peer: Peer)
    /// A member shows itself by a mark: it is in another epoch, or this device is.
    func sighted(_ device: DeviceID)
    /// Tells a device by connection what this device says of itself now; the completion is told whether it was reached.
    func deliver(to device: DeviceID, completion: @escaping (Bool) -> Void)
    /// Fetches the whole list of a device's activities.
    func fetchList(of device: DeviceID)
    /// Discovery has resolved a configured address.
    func foundStatic(_ service: DiscoveredService)
}
