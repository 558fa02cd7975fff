package import HandoffModel
package import HandoffProtocol
package import HandoffTransport

/// The rest of the daemon, as the peers component uses it. Called on the daemon's loop.
package protocol PeersDelegate: AnyObject {
    /// The local offers, most recent first, with their current ages.
    var localOffers: [LocalOffer] { get }

    /// The members to which no offer is announced while the others receive offers.
    var unadvertisedDevices: Set<DeviceID> { get }

    /// Handles changed offers, and devices that went online or offline.
    func offersChanged(of devices: Set<DeviceID>)

    /// Handles a message that only this member can have sent.
    ///
    /// - Parameter isFirstUnderKey: true for the first proof that the member holds the account key
    ///   in force.
    func messageReceived(from device: DeviceID, isFirstUnderKey: Bool)

    /// Handles the establishment or the end of a link.
    func linksChanged()

    /// Answers a request other than the request for the list of offers.
    func answer(_ request: PeerRequest, over link: PeerLink)

    /// Handles a notice.
    func handle(_ notice: PeerNotice, from device: DeviceID)

    /// Handles new records of kept activities from other devices, or the end of some.
    func keptChanged(_ new: [KeptRecord])

    /// Accepts the connection for a stream from a member that holds the account key in force.
    func acceptStream(_ connection: PeerConnection, from device: DeviceID)

    /// Stores a generation above `seen`, which another device has received from this identity, then
    /// calls `Peers.restart(generation:)`.
    func raiseGeneration(above seen: UInt64)
}
