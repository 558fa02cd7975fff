import HandoffAccount
import HandoffModel
import HandoffProtocol
import HandoffState
import LoopIO

/// Events that concern several parts, in the order in which the parts handle them.
extension Peers {
    /// The members to which no offer is announced while the others receive offers.
    var unadvertised: Set<DeviceID> {
        delegate?.unadvertisedDevices.intersection(accountStore.snapshot.live) ?? []
    }

    // MARK: - Events of links

    /// Handles a link on which both sides have accepted each other.
    func established(_ link: PeerLink, _ hello: Hello) {
        // The connections of a removed device were closed. If one was missed, it ends here.
        guard accountStore.snapshot.peerKey(link.device) != nil else { return link.close(.notLive) }
        records.heard(link.device, at: loop.now)
        records[link.device].trouble = nil
        delegate?.messageReceived(from: link.device, isFirstUnderKey: false)
        network.linkEstablished(link, hello)
        delegate?.linksChanged()
        sync.heard(hello, over: link, isFirst: true)
        kept.compare(hello, over: link)
    }

    /// Handles another hello on an established link.
    func received(_ hello: Hello, over link: PeerLink) {
        network.takeHello(hello, over: link)
        sync.heard(hello, over: link, isFirst: false)
        kept.compare(hello, over: link)
    }

    /// Handles a request of another device.
    func received(_ request: PeerRequest, over link: PeerLink) {
        if let refusal = refusal(of: link.device) { return link.respond(to: request.id, with: .failure(refusal)) }
        if let outcome = kept.answer(request, from: link.device) { return link.respond(to: request.id, with: outcome) }
        guard request.method == PeerMethod.activities else {
            delegate?.answer(request, over: link)
            return
        }
        let list = ActivityList(
            position: network.announcer.position,
            activities: Array(network.announcedOffers(to: link.device).prefix(ActivityList.maxCount).map(\.activity)))
        link.respond(to: request.id, with: .result(list.json))
    }

    /// Handles the end of a link.
    func ended(_ link: PeerLink) {
        pool.ended(link)
        // The other side closes idle links in order. That is not an error.
        let isTrouble = !(link.wasEndedByPeer && link.peerHello != nil)
        if accountStore.snapshot.live.contains(link.device) {
            records[link.device].trouble = isTrouble ? link.trouble : nil
        }
        network.linkEnded(link)
        kept.ended(link)
        staticPeers.review()
        delegate?.linksChanged()
    }

    /// Handles a slow call to a device: looks up its names again, and finds out whether the device
    /// is running.
    func callIsSlow(to device: DeviceID) {
        staticPeers.lookAgain(for: device)
        network.requestAcknowledgement(of: device)
    }

    /// True if there are records of kept activities.
    var holdsKept: Bool { kept.holdsRecords }

    /// Handles a device that has come online or has changed.
    func consider(_ peer: Peer) {
        sync.consider(peer)
        if peer.holdsKept { kept.search(peer.deviceID) }
    }

    // MARK: - Events of the network

    /// Handles changed offers, and devices that went online or offline.
    func devicesChanged(_ devices: Set<DeviceID>) {
        delegate?.offersChanged(of: devices)
        staticPeers.review()
    }

    /// Handles a message of a member that proves that it holds the account key in force.
    func receivedUnderKey(from device: DeviceID) {
        records.heard(device, at: loop.now)
        let isFirst = records.noteKeyProof(device, in: accountStore.snapshot)
        delegate?.messageReceived(from: device, isFirstUnderKey: isFirst)
        if isFirst { accountStore.finished(device) }
    }

    /// Handles the detection of a member by a mark: the member or this device is in another epoch.
    func detected(_ device: DeviceID) {
        if accountStore.snapshot.isJoining { joining.detected(device) } else { sync.detected(device) }
    }
}
