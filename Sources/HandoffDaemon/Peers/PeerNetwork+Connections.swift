import HandoffAccount
import HandoffLog
import HandoffModel
import HandoffProtocol
import LoopIO

/// What connections tell of the other devices.
extension PeerNetwork {
    /// Where a device may be found; nil when it is not there or has no label.
    func whereabouts(of id: DeviceID) -> LinkPool.Whereabouts? {
        guard let peer = table[id], let label = peer.label else { return nil }
        return LinkPool.Whereabouts(
            label: label, addresses: peer.candidates.ranked.compactMap { SocketAddress($0.address) },
            rosterDigest: peer.rosterDigest)
    }

    /// Both sides of a connection have accepted each other.
    func linkEstablished(_ link: PeerLink, _ hello: Hello) {
        let isKnown = table[link.device] != nil
        // Where it called from is its own host, but the port is another one than it listens on.
        let address = link.isClient ? link.address : link.address?.withPort(hello.port)
        let changes = table.receivedHello(
            hello, from: link.device, address: address.flatMap(PeerAddress.init), isProved: link.isClient,
            isFixed: link.isFixed, at: now)
        table.connectionOpened(link.device)
        missing.heard(link.device, under: hello.label, ring)
        if !isKnown { log.info("Device is there", ["device": link.device.short, "via": "connection"]) }
        if hello.epochIsCurrent, isOurs(epoch: hello.epoch, digest: hello.rosterDigest) {
            surroundings.heard(link.device)
        }
        handle(changes)
        perform(machine.connected(link.device, peers: table, at: now))
    }

    /// Nobody answered a call to an address of a device.
    func unanswered(_ id: DeviceID, at address: SocketAddress) {
        guard let address = PeerAddress(address) else { return }
        table.addressFailed(address, of: id)
    }

    /// A connection has ended; only those that were established were counted.
    func linkEnded(_ link: PeerLink) {
        guard link.peerHello != nil else {
            guard link.isClient, link.trouble != nil else { return }
            return perform(machine.callFailed(to: link.device, peers: table, at: now))
        }
        table.connectionClosed(link.device, at: now)
        // One that was cut leaves the question whether its device is still there.
        perform(link.wasCut ? machine.connectionCut(link.device, peers: table, at: now) : [])
    }

    /// An advert that came as a frame: only the device of the connection may say it.
    func receivedFrame(_ body: [UInt8], over link: PeerLink) {
        let device = link.device
        guard let advert = SignedAdvert(frameBody: body),
            let announcement = try? advert.verified(publicKey: { $0.deviceID == device ? ring.peerKey(device) : nil })
        else { return link.close(.message(.field("advert"))) }
        if isOurs(epoch: announcement.epoch, digest: announcement.rosterDigest) { surroundings.heard(device) }
        missing.heard(device, under: advert.label, ring)
        let reception = table.receivedAdvert(announcement, label: advert.label, source: nil, at: now)
        handle(reception.changes)
    }

    /// An announcement that was sealed with the key in force: its device has that key. The number tells it from one that
    /// another member has sealed anew.
    func noteKeyHolder(_ announcement: Announcement) {
        if announcement.epoch == ring.current?.n { surroundings.heard(announcement.deviceID) }
    }

    /// Whether a device that says so is in the epoch that holds here: with the same statements the same record holds there,
    /// and without a seal only that tells two records of one number apart.
    private func isOurs(epoch: UInt64?, digest: [UInt8]) -> Bool {
        epoch == ring.current?.n && ring.isCurrent && digest == ring.rosterDigest
    }

    /// The whole list of a device's activities.
    func receivedList(_ list: ActivityList, from device: DeviceID) {
        handle(table.receivedList(list, from: device, at: now))
    }

    /// The machine has told what it is.
    func setKind(_ kind: DeviceKind) {
        announcer.setKind(kind)
        say(evenIfOld: true)
        beacons.changed()
    }
}
