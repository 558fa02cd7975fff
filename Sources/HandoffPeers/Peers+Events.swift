import HandoffAccount
import HandoffModel
import HandoffProtocol
import HandoffState
import LoopIO

/// Events that concern several parts, in the order in which the parts handle them.
extension Peers {
    /// The members to which no offer is announced while the others receive them.
    var unadvertised: Set<DeviceID> {
        delegate?.unadvertisedDevices.intersection(accountStore.snapshot.live) ?? []
    }

    // MARK: - Events of links

    /// Both sides of a link have accepted each other.
    func established(_ link: PeerLink, _ hello: Hello) {
        // The connections of a removed device were closed; if one was missed, it ends here.
        guard accountStore.snapshot.peerKey(link.device) != nil else { return link.close(.notLive) }
        records.heard(link.device, at: loop.now)
        records[link.device].trouble = nil
        delegate?.messageReceived(from: link.device, isFirstUnderKey: false)
        network.linkEstablished(link, hello)
        delegate?.linksChanged()
        sync.heard(hello, over: link, isFirst: true)
    }

    /// The other side of a link has sent another hello.
    func received(_ hello: Hello, over link: PeerLink) {
        network.takeHello(hello, over: link)
        sync.heard(hello, over: link, isFirst: false)
    }

    /// The other side of a link has sent a request.
    func received(_ request: PeerRequest, over link: PeerLink) {
        if let refusal = refusal(of: link.device) { return link.respond(to: request.id, with: .failure(refusal)) }
        guard request.method == PeerMethod.activities else {
            delegate?.answer(request, over: link)
            return
        }
        let list = ActivityList(
            position: network.announcer.position,
            activities: Array(network.announcedOffers(to: link.device).prefix(ActivityList.maxCount)))
        link.respond(to: request.id, with: .result(list.json))
    }

    /// A link has ended.
    func ended(_ link: PeerLink) {
        pool.ended(link)
        // The other side closes idle links in order, which is no problem.
        let isTrouble = !(link.wasEndedByPeer && link.peerHello != nil)
        if accountStore.snapshot.live.contains(link.device) {
            records[link.device].trouble = isTrouble ? link.trouble : nil
        }
        network.linkEnded(link)
        staticPeers.review()
        delegate?.linksChanged()
    }

    /// A call to a device takes long: looks up its names again, and finds out whether the device is running.
    func callIsSlow(to device: DeviceID) {
        staticPeers.lookAgain(for: device)
        network.requestAcknowledgement(of: device)
    }

    // MARK: - Events of the network

    /// The offers of these devices have changed, or the devices have gone online or offline.
    func devicesChanged(_ devices: Set<DeviceID>) {
        delegate?.offersChanged(of: devices)
        staticPeers.review()
    }

    /// A message of a member arrived that proves that it holds the account key in force.
    func receivedUnderKey(from device: DeviceID) {
        records.heard(device, at: loop.now)
        let isFirst = records.heardUnderKey(device, in: accountStore.snapshot)
        delegate?.messageReceived(from: device, isFirstUnderKey: isFirst)
        if isFirst { accountStore.finished(device) }
    }

    /// A member was detected by a mark: it is in another epoch, or this device is.
    func sighted(_ device: DeviceID) {
        if accountStore.snapshot.isJoining { joining.sighted(device) } else { sync.sighted(device) }
    }
}
