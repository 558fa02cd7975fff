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
            forgetStranger(instance)
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
        let services = Array(unopened.values) + Array(strangers.values)
        unopened.removeAll()
        for service in services { found(service) }
    }

    /// The text of our beacon, made anew.
    func composeBeacon() -> (label: Label, text: [[UInt8]])? {
        guard let keys = ring.held, let label = labels.label, let marks = labels.marks else { return nil }
        do {
            return try announcer.beacon(keys: keys, marks: marks, listsActivities: listsInBeacon).map { (label, $0) }
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
        guard label != labels.label else { return }
        guard let gate = ring.gate(for: label) else { return lookForMark(service, label) }
        forgetStranger(service.instance)
        guard gate.isHeld, let keys = ring.current else {
            // Left behind in a former epoch, or it is we who are: only statements and keys are exchanged.
            guard !service.addresses.isEmpty else { return }
            remember(service)
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
        missing.heard(announcement.deviceID, under: label, ring)
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
            sendAdvert(to: address, device: nil, label: label)
        }
    }

    /// A greater start number than all before is signed by the device itself.
    func noteRestart(_ announcement: Announcement) {
        guard let seen = table.seenBoot(of: announcement.deviceID), announcement.position.boot > seen else { return }
        machine.restarted(announcement.deviceID)
    }

    /// A label that no key here has made: a member's that changed the key while we were apart, if it bears a mark for this
    /// device, which only that member can have made. Others may repeat it; then a call finds out that they are nobody.
    private func lookForMark(_ service: DiscoveredService, _ label: Label) {
        // Also without an account: whose label it is may show when there is one, and discovery tells nothing twice.
        if strangers.count >= Self.maximumUnopened, strangers[service.instance] == nil {
            // Any: those that came last must not be shut out by the first ones.
            if let any = strangers.first?.key { forgetStranger(any) }
        }
        strangers[service.instance] = service
        guard ring.accountID != nil, let marks = service.text.flatMap(BeaconText.marks) else { return }
        guard let look = missing.look(at: service.instance, label: label, marks: marks, ring, at: now) else {
            return lookAgainSoon()
        }
        guard let author = look.author, let keys = look.keys, !service.addresses.isEmpty else { return }
        surroundings.strayed(Straggler(label: label, addresses: service.addresses, marked: (author, keys.gate)))
    }

    private func forgetStranger(_ instance: String) {
        strangers[instance] = nil
        missing.forget(instance)
    }

    private func lookAgainSoon() {
        guard lookTimer?.isArmed != true else { return }
        do {
            lookTimer = try loop.timer(after: .seconds(1), accuracy: .milliseconds(100)) { [unowned self] in
                reconsiderUnopened()
            }
        } catch {
            log.error("Cannot set the timer of foreign services", ["error": "\(error)"])
        }
    }

    private func remember(_ service: DiscoveredService) {
        guard unopened.count < Self.maximumUnopened || unopened[service.instance] != nil else { return }
        unopened[service.instance] = service
    }
}
