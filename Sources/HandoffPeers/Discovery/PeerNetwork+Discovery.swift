import HandoffAccount
package import HandoffDiscovery
import HandoffLog
import HandoffModel
import HandoffProtocol
import HandoffState
import LoopIO
import Timing

extension PeerNetwork {
    /// Takes what discovery says; mDNS is only a hint, and nothing in it is believed that its device did not sign.
    package func discovered(_ event: DiscoveryEvent) {
        switch event {
        case .state, .allForNow: break
        case .service(let service): found(service)
        case .removed(let instance):
            unopened[instance] = nil
            forgetStranger(instance)
            forgetSighting(instance)
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
        guard let keys = snapshot.held, let label = labels.label, farewell != .sleep, !isSilent else { return nil }
        defer { beaconMade() }
        do {
            return try announcer.beacon(keys: keys, marking: missing.marked, listsActivities: listsInBeacon)
                .map { (label, $0) }
        } catch {
            log.fault("Cannot seal the beacon", ["error": "\(error)"])
            return nil
        }
    }

    /// A live member has this label. If the key of another epoch made it, its record was taken for that of an unknown device.
    func learned(_ label: Label) {
        guard !strangers.isEmpty, table.knows(label), let service = strangers[label.instanceName] else { return }
        found(service)
    }

    /// Tells instances of members from others: by the key that is held, or because the member is known.
    package var membership: @Sendable (String) -> Bool {
        let known = Set(table.all.compactMap { $0.label?.instanceName })
        return { [snapshot] in snapshot.recognises(instance: $0) || known.contains($0) }
    }

    private func found(_ service: DiscoveredService) {
        guard let label = Label(instanceName: service.instance) else {
            delegate?.foundStatic(service)
            return
        }
        guard label != labels.label else { return }
        let isHeld = snapshot.isHeld(label)
        guard let keys = snapshot.held, isHeld || table.knows(label) else { return lookForMark(service, label) }
        forgetStranger(service.instance)
        forgetSighting(service.instance)
        guard let text = service.text else { return }
        let announcement: Announcement
        do throws(SealError) {
            announcement = try BeaconSeal.open(
                text, label: label, labelKey: isHeld ? keys.label : nil, beaconKey: keys.beacon,
                publicKey: snapshot.memberKey)
        } catch {
            // Labels outlive their epoch: the device may have another key by now.
            return error == .notGenuine ? lookForMark(service, label) : remember(service)
        }
        if announcement.deviceID == snapshot.own {
            return greetTwin(label: label, addresses: service.addresses)
        }
        let isKnown = table[announcement.deviceID] != nil
        let hadAddresses = table[announcement.deviceID]?.candidates.ranked.isEmpty == false
        noteRestart(announcement)
        noteKeyHolder(announcement.deviceID)
        missing.heard(announcement.deviceID)
        let addresses = service.addresses.compactMap(PeerAddress.init)
        let reception = table.receivedBeacon(
            announcement, label: label, instance: service.instance, addresses: addresses, at: now)
        guard reception != .own, let peer = table[announcement.deviceID] else { return }
        if !isKnown { log.info("Device is there", ["device": peer.deviceID.short, "via": "mdns"]) }
        handle(reception.changes)
        perform(machine.discovered(peer.deviceID, peers: table, at: now))
        if !hadAddresses { delegate?.rosterMayDiffer(peer) }
        delegate?.addressesMayDiffer(of: peer.deviceID)
    }

    /// A record of this very device under a label that was never its own: some cache repeats one of a former start, or another
    /// machine uses a copy of the state folder. Only that can open an advert that is sealed for the label: then it knows.
    private func greetTwin(label: Label, addresses: [SocketAddress]) {
        guard !labels.isOwn(label), !addresses.isEmpty else { return }
        if let last = lastGreetedTwin, last.duration(to: loop.now) < Self.twinInterval { return }
        lastGreetedTwin = loop.now
        for address in addresses.prefix(Self.maxTwinAddresses).compactMap(PeerAddress.init) {
            sendAdvert(to: address, device: nil, label: label)
        }
    }

    /// An advert of this very device. One of a former start or a former label proves nothing: a member that kept it can seal it
    /// for us again. Any other is of another machine with the same identity, and the one that started first falls silent; of
    /// two that started within the same second, the one with the smaller label.
    func receivedOwn(_ announcement: Announcement, label: Label) {
        guard let own = labels.label, !labels.isOwn(label) else { return }
        let (theirs, ours) = (announcement.position.boot, announcer.position.boot)
        if theirs > ours || (theirs == ours && own.bytes.lexicographicallyPrecedes(label.bytes)) { fallSilent() }
    }

    /// A greater start number than all before is signed by the device itself.
    func noteRestart(_ announcement: Announcement) {
        guard let seen = table.seenBoot(of: announcement.deviceID), announcement.position.boot > seen else { return }
        machine.restarted(announcement.deviceID)
    }

    /// A label that the held key has not made: of a member in another epoch, or of one that waits for the holder of a ticket, if it
    /// bears a mark for this device, which only that member can have made. Others may repeat it; then a call finds out that they are nobody.
    private func lookForMark(_ service: DiscoveredService, _ label: Label) {
        // Also without an account: whose label it is may show when there is one, and discovery tells nothing twice.
        if strangers.count >= Self.maxUnopened, strangers[service.instance] == nil {
            // Any: those that came last must not be shut out by the first ones.
            if let any = strangers.first?.key { forgetStranger(any) }
        }
        strangers[service.instance] = service
        guard snapshot.accountID != nil, let found = service.text.flatMap(BeaconText.marks) else { return }
        let author: MissingMembers.Author?
        do throws(MissingMembers.NotNow) {
            author = try missing.author(of: service.instance, under: label, found, at: now)
        } catch {
            return lookAgainSoon()
        }
        guard let author else { return loseMark(of: service.instance) }
        guard !service.addresses.isEmpty else { return }
        sightings[author.device] = Sighting(
            instance: service.instance,
            way: way(label, service.addresses, author.keys.gate, .pair, isIntroduction: author.isIntroduction))
        delegate?.sighted(author.device)
    }

    private func loseMark(of instance: String) {
        for (device, sighting) in sightings where sighting.instance == instance { sightings[device]?.isMarked = false }
    }

    /// A member that has a new label shows both for a while, and the record that came last may be the one that goes first: then it is
    /// still seen by the other one.
    private func forgetSighting(_ instance: String) {
        for (device, sighting) in sightings where sighting.instance == instance {
            sightings[device] = nil
            for other in missing.instances(of: device) where other != instance {
                if let service = strangers[other] { found(service) }
            }
        }
    }

    private func forgetStranger(_ instance: String) {
        strangers[instance] = nil
        missing.forget(instance)
    }

    private func lookAgainSoon() {
        guard lookTimer?.isArmed != true else { return }
        lookTimer = loop.timer(after: .seconds(1), accuracy: .milliseconds(100)) { [unowned self] in
            reconsiderUnopened()
        }
    }

    private func remember(_ service: DiscoveredService) {
        guard unopened.count < Self.maxUnopened || unopened[service.instance] != nil else { return }
        unopened[service.instance] = service
    }
}
