import HandoffAccount
import HandoffDiscovery
import HandoffLog
import HandoffModel
import HandoffProtocol
import LoopIO

extension PeerNetwork {
    /// Takes what discovery says; mDNS is only a hint, and nothing in it is believed that its device did not sign.
    func discovered(_ event: DiscoveryEvent) {
        switch event {
        case .state, .allForNow: break
        case .service(let service): found(service)
        case .removed(let instance):
            unopened[instance] = nil
            guard let id = table.instanceRemoved(instance) else { return }
            perform(machine.instanceRemoved(id, peers: table, at: now))
        case .conflict(let instance):
            guard labels.label?.instanceName == instance, beacons.mayRenewAfterConflict() else { return }
            log.notice("Our service name was taken; choosing another")
            renewLabel()
        case .networkChanged:
            routes.removeAll()
            networkChanged()
        }
    }

    /// Looks again at services whose device was not known: the roster has changed.
    func reconsiderUnopened() {
        let services = unopened.values
        unopened.removeAll()
        for service in services { found(service) }
    }

    /// The text of our beacon, made anew.
    func composeBeacon() -> (label: Label, text: [[UInt8]])? {
        guard let keys = ring.held, let label = labels.label else { return nil }
        do {
            return try announcer.beacon(keys: keys, listsActivities: policy == .all).map { (label, $0) }
        } catch {
            log.fault("Cannot seal the beacon", ["error": "\(error)"])
            return nil
        }
    }

    private func found(_ service: DiscoveredService) {
        guard let label = Label(instanceName: service.instance) else {
            surroundings.foundStatic(service)
            return
        }
        guard label != labels.label, let gate = ring.gate(for: label) else { return }
        guard gate.isHeld, let keys = ring.current else {
            // Left behind in a former epoch, or it is we who are: only statements and keys are exchanged.
            guard !service.addresses.isEmpty else { return }
            return surroundings.strayed(Straggler(label: label, addresses: service.addresses))
        }
        guard let text = service.text else { return }
        let announcement: Announcement
        do {
            announcement = try BeaconSeal.open(
                text, label: label, labelKey: keys.label, beaconKey: keys.beacon, publicKey: ring.memberKey)
        } catch {
            remember(service)
            return
        }
        if announcement.deviceID == ring.own {
            return greetTwin(announcement, label: label, addresses: service.addresses)
        }
        let isKnown = table[announcement.deviceID] != nil
        noteRestart(announcement)
        noteKeyHolder(announcement)
        let addresses = service.addresses.compactMap(PeerAddress.init)
        let reception = table.receivedBeacon(
            announcement, label: label, instance: service.instance, addresses: addresses, at: now)
        guard reception != .own, let peer = table[announcement.deviceID] else { return }
        if !isKnown { log.info("Device is there", ["device": peer.deviceID.short, "via": "mdns"]) }
        handle(reception.changes)
        perform(machine.discovered(peer.deviceID, peers: table, at: now))
        // Its addresses may have come only now.
        surroundings.rosterMayDiffer(peer)
    }

    /// A record of this very device under a label that is not its own is an old one that some cache repeats, or that of
    /// a clone of the state folder. Only a clone can open an advert that is sealed for the label: then it knows.
    private func greetTwin(_ announcement: Announcement, label: Label, addresses: [SocketAddress]) {
        guard announcement.position.boot != announcer.position.boot else { return }
        if let last = lastGreetedTwin, last.duration(to: loop.now) < Self.twinInterval { return }
        lastGreetedTwin = loop.now
        for address in addresses.prefix(Self.maximumTwinAddresses).compactMap(PeerAddress.init) {
            sendAdvert(to: address, label: label)
        }
    }

    /// A greater start number than all before is signed by the device itself.
    func noteRestart(_ announcement: Announcement) {
        guard let seen = table.seenBoot(of: announcement.deviceID), announcement.position.boot > seen else { return }
        machine.restarted(announcement.deviceID)
    }

    private func remember(_ service: DiscoveredService) {
        guard unopened.count < Self.maximumUnopened || unopened[service.instance] != nil else { return }
        unopened[service.instance] = service
    }
}
