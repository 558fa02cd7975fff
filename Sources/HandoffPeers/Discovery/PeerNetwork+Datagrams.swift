import HandoffAccount
import HandoffCrypto
import HandoffModel
package import HandoffProtocol
import HandoffState
package import LoopIO

extension PeerNetwork {
    /// Opens a datagram. Only a datagram that passes every check has an effect.
    func received(_ bytes: [UInt8], from source: SocketAddress, at local: LocalEndpoint) {
        guard !isSilent, let keys = snapshot.current, let address = PeerAddress(source) else { return }
        guard openingBudget.admit(from: address, isProved: table.isProvedSource(address), at: now) else { return }
        let opened: OpenedDatagram
        do {
            opened = try AdvertSeal.open(
                bytes, receivers: labels.receivers(now: loop.now), advertKey: keys.advert,
                publicKey: snapshot.memberKey)
        } catch {
            // Unknown devices, replays and members in another epoch get no reply and no log entry:
            // they could fill the log.
            guard error == .notGenuine, let found = openFromLost(bytes, keys) else { return }
            opened = found
        }
        remember(local, for: address)
        switch opened {
        case .advert(let announcement, let label, let salt):
            let host = local.address.flatMap { PeerAddress(host: $0.bytes, port: 1) }?.hostInIPv6
            let unknown = [UInt8](repeating: 0, count: Acknowledgement.hostCount)
            received(
                announcement, label: label, AdvertArrival(source: address, host: host ?? unknown, salt: salt))
        case .acknowledgement(let acknowledgement, _): received(acknowledgement, from: address)
        }
    }

    /// Opens an advert of a lost device that knows this one only by an old label.
    ///
    /// It must be newer than everything received from the device. A recorded one that another host
    /// repeats gets no reply, which would show that the former label and the present one belong to
    /// one device.
    private func openFromLost(_ bytes: [UInt8], _ keys: EpochKeys) -> OpenedDatagram? {
        guard table.hasLost else { return nil }
        let opened = try? AdvertSeal.open(
            bytes, receivers: labels.receiversForLost(now: loop.now), advertKey: keys.advert,
            publicKey: snapshot.memberKey)
        guard case .advert(let announcement, _, _) = opened, table.isNewFromUnreachable(announcement) else {
            return nil
        }
        return opened
    }

    /// Handles an acknowledgement. It proves an address if the advert was sent there, arrived
    /// there, and is answered from there. A member that forwards adverts and acknowledgements has
    /// another address than the device.
    private func received(_ acknowledgement: Acknowledgement, from source: PeerAddress) {
        let id = acknowledgement.deviceID
        guard let keys = missing.pairwise[.device(id)],
            let target = records[id].sentAdverts.take(
                acknowledgement.position, isGenuine: { keys.isGenuine(acknowledgement, salt: $0) })
        else { return }
        noteKeyHolder(id)
        let proved = target == source && target.hostInIPv6 == acknowledgement.host ? target : nil
        let changes = table.recover(id, at: now)
        if !changes.isEmpty { log.info("Device is online", ["device": id.short, "via": "acknowledgement"]) }
        if table.receivedAcknowledgement(of: acknowledgement.position, from: id, proving: proved, at: now) {
            perform(machine.receivedAcknowledgement(from: id, peers: table, at: now))
            completeIfAllConfirmed()
        }
        handle(changes)
    }

    private func received(_ announcement: Announcement, label: Label, _ arrival: AdvertArrival) {
        guard records.admitAdvert(of: announcement.deviceID, at: now) else { return }
        guard announcement.deviceID != snapshot.own else { return receivedOwn(announcement, label: label) }
        let isKnown = table[announcement.deviceID] != nil
        noteRestart(announcement)
        records[announcement.deviceID].isInSameEpoch = true
        let reception = table.receivedAdvert(announcement, label: label, source: arrival.source, at: now)
        noteKeyHolder(announcement.deviceID)
        let actions = machine.receivedAdvert(
            announcement, label: label, arrival: arrival, reception: reception, peers: table, at: now)
        if !isKnown, table[announcement.deviceID] != nil {
            log.info("Device is online", ["device": announcement.deviceID.short, "via": "advert"])
        }
        perform(actions)
        handle(reception.changes)
        learned(label)
        peers?.pool.addressesMayDiffer(of: announcement.deviceID)
    }

    /// Seals the latest advert for a label, and sends it.
    ///
    /// - Parameter device: the device with the label; nil if unknown.
    func sendAdvert(to address: PeerAddress, device: DeviceID?, label: Label) {
        guard !hasDuplicateIdentity, !isSilent else { return }
        refreshAges()
        guard let advert = advert(for: device), let keys = snapshot.held else { return }
        let salt = Randomness.bytes(AdvertSeal.saltCount)
        do {
            send(try AdvertSeal.seal(advert, to: label, advertKey: keys.advert, salt: salt), to: address)
            if let device { records[device].sentAdverts.note(announcer.position, at: address, salt: salt) }
        } catch {
            log.fault("Cannot seal an advert", ["error": "\(error)"])
        }
    }

    func refreshAges() {
        guard signed.duration(to: loop.now) > Self.freshness else { return }
        signed = loop.now
        do {
            try announcer.refreshAges(announcedOffers())
        } catch {
            log.fault("Cannot sign an announcement", ["error": "\(error)"])
        }
    }

    /// Notifies a device that its advert has arrived.
    func sendAcknowledgement(of position: Position, to device: DeviceID, label: Label, _ arrival: AdvertArrival) {
        guard let own = labels.label, let keys = snapshot.held, !isSilent,
            let pair = missing.pairwise[.device(device)]
        else { return }
        let acknowledgement = pair.acknowledgement(
            by: snapshot.own, of: position, at: arrival.host, salt: arrival.salt)
        do {
            let sealed = try AdvertSeal.seal(acknowledgement, from: own, to: label, advertKey: keys.advert)
            send(sealed, to: arrival.source)
        } catch {
            log.fault("Cannot seal an acknowledgement", ["error": "\(error)"])
        }
    }

    private func send(_ bytes: [UInt8], to address: PeerAddress) {
        guard let target = SocketAddress(address) else { return }
        // From the address at which the datagram arrived, or the other side's firewall drops it.
        if let error = socket.send(bytes, to: target, from: routes[address]) {
            routes[address] = nil
            log.debug("Datagram was not sent", ["to": "\(target)", "error": "\(error)"])
        }
    }

    private func remember(_ local: LocalEndpoint, for address: PeerAddress) {
        if routes.count >= Self.maxRoutes { routes.removeAll(keepingCapacity: true) }
        routes[address] = local
    }
}

extension PeerAddress {
    /// Creates the address of a socket for the machines; nil for port 0.
    package init?(_ address: SocketAddress) {
        self.init(host: address.address.bytes, port: address.port, scope: address.address.scope)
    }
}

extension SocketAddress {
    /// Creates the address of a peer for the socket.
    package init?(_ address: PeerAddress) {
        guard let ip = IPAddress(bytes: address.host, scope: address.scope) else { return nil }
        self.init(ip, port: address.port)
    }
}
