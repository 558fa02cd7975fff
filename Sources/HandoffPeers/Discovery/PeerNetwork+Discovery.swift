import HandoffAccount
import HandoffCrypto
import HandoffDiscovery
import HandoffModel
import HandoffProtocol
import HandoffState
import LoopIO

extension PeerNetwork {
    /// Handles an event of discovery. mDNS is only a hint: no content is trusted unless its device
    /// signed it.
    func discovered(_ event: DiscoveryEvent) {
        switch event {
        case .state, .allForNow: break
        case .service(let service): found(service)
        case .removed(let instance):
            unopened[instance] = nil
            forgetForeign(instance)
            forgetDetection(instance)
            guard let id = table.instanceRemoved(instance) else { return }
            perform(machine.instanceRemoved(id, peers: table, at: now))
        case .conflict(let instance):
            guard publishedLabel?.instanceName == instance, beacons.mayRenewAfterConflict() else { return }
            log.notice("The service name is already in use; choosing another one")
            renewLabel()
        case .networkChanged:
            routes.removeAll()
            networkChanged()
        }
    }

    /// Judges services of unknown devices again: the roster has changed.
    func reconsiderUnopened() {
        let services = Array(unopened.values) + Array(strangers.values)
        unopened.removeAll()
        for service in services { found(service) }
    }

    /// Composes the text of this device's record.
    ///
    /// - Parameters:
    ///   - addresses: those with which it is published.
    ///   - port: the port with which it is published.
    func composeBeacon(for addresses: [IPAddress], port: UInt16) -> (label: Label, text: [[UInt8]])? {
        guard leaveReason != .sleep, !isSilent, !hasDuplicateIdentity, let label = publishedLabel else { return nil }
        noteAddresses(addresses)
        let hosts = addresses.prefix(BeaconSeal.maxAddresses).map(\.bytes)
        let moment = moment
        let salt = Randomness.bytes(16)
        let endpoints = hosts.map { Marks.endpoint($0, port: port) }
        let places = missing.places(
            for: endpoints, known: Set(table.all.map(\.deviceID)), found: records.devices(where: \.isInSameEpoch),
            at: moment)
        missing.sealed(salt, at: now)
        defer { beaconMade() }
        guard let keys = snapshot.held else {
            let cover = BeaconSeal.cover(label: label, marking: places, salt: salt)
            return (label, cover + announcer.reservedStrings())
        }
        refreshAges()
        do {
            let sealing = Announcer.Sealing(
                keys: keys, salt: salt, period: Period(unixSeconds: moment.unixSeconds), addresses: hosts,
                places: places)
            return try announcer.beacon(sealing, listsActivities: listsInBeacon).map { (label, $0) }
        } catch {
            log.fault("Cannot seal the beacon", ["error": "\(error)"])
            return nil
        }
    }

    /// Ends the search for lost devices if this device is in another network now.
    func noteAddresses(_ addresses: [IPAddress]) {
        if searchNetworks.hasMoved(to: addresses) { table.forgetLost() }
    }

    /// Handles a label of a live member. If the key of another epoch made it, its record was judged
    /// as that of an unknown device.
    func learned(_ label: Label) {
        guard !strangers.isEmpty, table.knows(label), let service = strangers[label.instanceName] else { return }
        found(service)
    }

    /// Returns true for the instances of members: those made with the held key, and those of known
    /// members.
    var membership: @Sendable (String) -> Bool {
        let known = Set(table.all.compactMap { $0.label?.instanceName })
        return { [snapshot] in snapshot.recognises(instance: $0) || known.contains($0) }
    }

    private func found(_ service: DiscoveredService) {
        guard let label = Label(instanceName: service.instance) else {
            peers?.staticPeers.found(service)
            return
        }
        // Marks are the same in both directions: one in a former record of this device would look
        // like one of the other device.
        guard label != publishedLabel, !labels.isOwn(label) else { return }
        let isHeld = snapshot.isHeld(label)
        guard let keys = snapshot.held, isHeld || table.knows(label) else { return readMark(service, label) }
        guard let text = service.text else { return }
        do throws(SealError) {
            let opened = try BeaconSeal.open(
                text, label: label, labelKey: isHeld ? keys.label : nil, beaconKey: keys.beacon,
                publicKey: snapshot.memberKey)
            forgetForeign(service.instance)
            forgetDetection(service.instance)
            found(opened, in: service, under: label)
        } catch {
            // Labels outlive their epoch: the device may have another key by now.
            if error == .notGenuine { return readMark(service, label) }
            forgetForeign(service.instance)
            forgetDetection(service.instance)
            // With the present header, a beacon of the former layout may also look like an
            // announcement of an unknown device.
            if error == .malformed || error == .unknownDevice { noteOutdated(text, label, keys) }
            remember(service)
        }
    }

    /// Handles a beacon if it is fresh: another host may repeat an old one to find out whose it is.
    /// Only those addresses of its record are used that its device has put into it.
    private func found(_ opened: OpenedBeacon, in service: DiscoveredService, under label: Label) {
        let announcement = opened.announcement
        let record = service.text.flatMap(BeaconText.marks).map {
            MissingMembers.Record(label: label, $0, addresses: service.addresses)
        }
        let (isFresh, isTimely) = missing.isFresh(
            opened.period, of: announcement.deviceID, salt: opened.salt, record, at: moment)
        guard isFresh else { return }
        let addresses = service.addresses.filter { opened.names($0.address.bytes) }.compactMap(PeerAddress.init)
        if announcement.deviceID == snapshot.own { return greetDuplicate(label: label, addresses: addresses) }
        let isKnown = table[announcement.deviceID] != nil
        let hadAddresses = table[announcement.deviceID]?.candidates.ranked.isEmpty == false
        records[announcement.deviceID].isOutdated = false
        noteRestart(announcement)
        noteKeyHolder(announcement.deviceID)
        records[announcement.deviceID].isInSameEpoch = true
        let reception = table.receivedBeacon(
            announcement, label: label, instance: service.instance, addresses: addresses, isTimely: isTimely,
            freshUntil: opened.period.validity(at: moment.unixSeconds).map { now + .seconds($0) }, at: now)
        guard reception != .own, let peer = table[announcement.deviceID] else { return }
        if !isKnown { log.info("Device is online", ["device": peer.deviceID.short, "via": "mdns"]) }
        handle(reception.changes)
        perform(machine.discovered(peer.deviceID, peers: table, at: now))
        if !hadAddresses { peers?.sync.consider(peer) }
        peers?.pool.addressesMayDiffer(of: peer.deviceID)
    }

    /// Logs once that a member uses an earlier version of the protocol, which is incompatible with
    /// this device.
    private func noteOutdated(_ text: [[UInt8]], _ label: Label, _ keys: EpochKeys) {
        let author = BeaconSeal.formerAuthor(
            text, label: label, labelKey: keys.label, beaconKey: keys.beacon, publicKey: snapshot.peerKey)
        guard let author, !records[author].isOutdated else { return }
        records[author].isOutdated = true
        log.notice(
            "A device uses another version of the protocol; update Handoff there", ["device": author.short])
    }

    /// Handles a record with this device's identity under a label that is not its own. Either a
    /// cache repeats one of a former start, or another machine uses a copy of the state folder.
    /// Only the latter can open an advert sealed for the label, and learns of it.
    private func greetDuplicate(label: Label, addresses: [PeerAddress]) {
        guard !addresses.isEmpty else { return }
        if let last = lastGreetedDuplicate, last.duration(to: loop.now) < Self.duplicateInterval { return }
        lastGreetedDuplicate = loop.now
        for address in addresses.prefix(Self.maxDuplicateAddresses) {
            sendAdvert(to: address, device: nil, label: label)
        }
    }

    /// Handles an advert with this device's identity. One of a former start or label proves
    /// nothing: a member that kept it can seal it for this device again. Any other is of another
    /// machine with the same identity, and the one that started first falls silent; of two that
    /// started within the same second, the one with the smaller label.
    func receivedOwn(_ announcement: Announcement, label: Label) {
        guard let own = labels.label, !labels.isOwn(label) else { return }
        let (theirs, ours) = (announcement.position.generation, announcer.position.generation)
        if theirs > ours || (theirs == ours && own.bytes.lexicographicallyPrecedes(label.bytes)) { fallSilent() }
    }

    /// Handles a generation greater than all before, which the device itself has signed.
    func noteRestart(_ announcement: Announcement) {
        guard let seen = table.seenGeneration(of: announcement.deviceID), announcement.position.generation > seen else {
            return
        }
        machine.restarted(announcement.deviceID)
    }

    /// Handles a label that the held key has not made. It is of a member in another epoch, or of
    /// one that waits for the holder of a ticket, if its record has a fresh mark for this device:
    /// only that member can have made it. Without one, nothing is sent.
    private func readMark(_ service: DiscoveredService, _ label: Label) {
        // Also without an account: the owner may become known with one, and discovery repeats no
        // event.
        if strangers.count >= Self.maxUnopened, strangers[service.instance] == nil {
            // Any one, so that the first services cannot shut out the latest ones.
            if let any = strangers.first?.key { forgetForeign(any) }
        }
        strangers[service.instance] = service
        guard snapshot.accountID != nil, let found = service.text.flatMap(BeaconText.marks) else { return }
        let look: MissingMembers.Look
        do throws(MissingMembers.ReadLimitExceeded) {
            let record = MissingMembers.Record(label: label, found, addresses: service.addresses)
            look = try missing.look(at: service.instance, record, at: moment)
        } catch {
            return rereadSoon()
        }
        // The only exception to the fixed times at which records are sealed. Only a device that
        // holds the ticket, and has read this device's record within the last minutes, can cause
        // it.
        if look.isAwaited { beacons.changed(isAwaited: true) }
        guard let author = look.author else { return loseMark(of: service.instance) }
        records[author.device].detection = Detection(
            instance: service.instance,
            route: route(label, author.addresses, author.keys.gate, .pair, isIntroduction: author.isIntroduction),
            expires: author.expires)
        peers?.detected(author.device)
    }

    /// Returns the members that were last detected by a mark in the record of this instance.
    private func devicesDetected(by instance: String) -> Set<DeviceID> {
        records.devices { $0.detection?.instance == instance }
    }

    private func loseMark(of instance: String) {
        for device in devicesDetected(by: instance) { records[device].detection?.isMarked = false }
    }

    /// A member with a new label has two records for a while, and the later one may end first. Then
    /// the other one still detects it.
    private func forgetDetection(_ instance: String) {
        for device in devicesDetected(by: instance) {
            records[device].detection = nil
            for other in missing.instances(of: device) where other != instance {
                if let service = strangers[other] { found(service) }
            }
        }
    }

    private func forgetForeign(_ instance: String) {
        strangers[instance] = nil
        missing.forget(instance)
    }

    private func rereadSoon() {
        guard rereadTimer?.isArmed != true else { return }
        rereadTimer = loop.timer(after: .seconds(1), accuracy: .milliseconds(100)) { [unowned self] in
            reconsiderUnopened()
        }
    }

    private func remember(_ service: DiscoveredService) {
        guard unopened.count < Self.maxUnopened || unopened[service.instance] != nil else { return }
        unopened[service.instance] = service
    }
}
