package import HandoffModel
package import HandoffProtocol
package import HandoffTransport

/// The rest of the daemon, as the peers component uses it. Called on the daemon's loop.
package protocol PeersDelegate: AnyObject {
    /// The local offers, most recent first, with ages as of now.
    var localOffers: [OfferedActivity] { get }

    /// The members to which no offer is announced while the others receive them.
    var unadvertisedDevices: Set<DeviceID> { get }

    /// The offers of these devices have changed, or the devices have gone online or offline.
    func offersChanged(of devices: Set<DeviceID>)

    /// A message arrived that only this member can have sent.
    ///
    /// - Parameter isFirstUnderKey: whether it is the first proof that the member holds the account key in force.
    func messageReceived(from device: DeviceID, isFirstUnderKey: Bool)

    /// A link was established or has ended.
    func linksChanged()

    /// Answers a request that is not about the list of offers.
    func answer(_ request: PeerRequest, over link: PeerLink)

    /// Handles a notice.
    func handle(_ notice: PeerNotice, from device: DeviceID)

    /// Accepts the connection of a stream from a member that holds the account key in force.
    func acceptStream(_ connection: PeerConnection, from device: DeviceID)

    /// Another device has received a greater generation of this device: stores one above it, then calls `Peers.restart(generation:)`.
    func raiseGeneration(above seen: UInt64)
}
