import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffProtocol
import HandoffState
import LoopIO

/// The effects of connections on the table of devices.
extension PeerNetwork {
    /// Returns the routes to a device, most promising first: where it was received, and where it
    /// was detected by a mark, which any host can repeat. A member that does not know this device
    /// yet opens only to an introduction.
    ///
    /// - Parameter isForRoster: true to try first where a member in another epoch was detected by a
    ///   mark.
    func routes(to id: DeviceID, isForRoster: Bool = false) -> [LinkPool.Route] {
        let routes = allRoutes(to: id)
        guard !isForRoster, records[id].isInSameEpoch, let seen = currentDetection(of: id) else { return routes }
        return routes.filter { $0.label != seen.route.label } + routes.filter { $0.label == seen.route.label }
    }

    private func allRoutes(to id: DeviceID) -> [LinkPool.Route] {
        var routes = currentDetection(of: id).map { [$0.route] } ?? []
        let pairwise = missing.pairwise[.device(id)]
        if let route = routes.first, route.isIntroduction, let pairwise {
            // It may have admitted this device, and the connection may have broken before the
            // account key arrived.
            routes.append(self.route(route.label, route.addresses, pairwise.gate, .pair))
        }
        let lost = table.lost(id)
        if let peer = table[id] ?? lost?.peer, let label = peer.label, let held = snapshot.held {
            let known = lost?.addresses(at: now) ?? peer.candidates.ranked.map(\.address)
            let addresses = known.compactMap(SocketAddress.init)
            guard !addresses.isEmpty else { return routes }
            if label != routes.first?.label, let pairwise {
                let hint = snapshot.isHeld(label) ? Gate.Hint.device(snapshot.own, epoch: held.gate) : .pair
                routes.append(route(label, addresses, pairwise.gate, hint))
            }
            routes.append(route(label, addresses, held.gate, .introduction, isIntroduction: true))
        }
        return routes
    }

    /// Returns the routes to a member at addresses that are known without its label, in the order
    /// to try. Only a call shows in which epoch it is.
    func staticRoutes(to device: DeviceID, at addresses: [SocketAddress]) -> [LinkPool.Route] {
        missing.pairwise.keys(for: device).flatMap { keys, isIntroduction in
            let epoch = isIntroduction ? nil : snapshot.held.map { Gate.Hint.device(snapshot.own, epoch: $0.gate) }
            return [epoch, .pair].compactMap(\.self).map {
                route(Gate.staticLabel, addresses, keys.gate, $0, isIntroduction: isIntroduction)
            }
        }
    }

    /// Updates the gate for the present members, tickets and labels.
    func updateCallers() {
        let parties = missing.pairwise.keys
        labels.partiesChanged(parties.keys)
        callers.update(parties, of: snapshot.accountID, to: snapshot.own, labels: labels.receivers(now: now))
    }

    /// Returns a route to a device under a label, with a shared key.
    func route(
        _ label: Label, _ addresses: [SocketAddress], _ gate: SecretBytes, _ hint: Gate.Hint,
        isIntroduction: Bool = false
    ) -> LinkPool.Route {
        LinkPool.Route(
            label: label, addresses: addresses, gate: gate, hint: hint, isIntroduction: isIntroduction, calls: calls)
    }

    /// Returns the still fresh detection of a member by a mark.
    func currentDetection(of id: DeviceID) -> Detection? {
        records[id].detection.flatMap { now < $0.expires ? $0 : nil }
    }

    /// Returns the hello for a new or changed connection to a device; nil if it would be invalid.
    func hello(to device: DeviceID) -> Hello? {
        Hello(
            software: Version.daemon, kind: announcer.kind, port: announcer.port, label: labels.label,
            generation: announcer.position.generation, seq: announcer.position.seq, listSeq: announcer.listSeq,
            seenGeneration: table.seenGeneration(of: device), rosterDigest: snapshot.rosterDigest,
            epoch: snapshot.epochName,
            leaveReason: leaveReason, keepsActivities: peers?.kept.isOn ?? false, keptDigest: peers?.kept.helloDigest)
    }

    /// Handles an established connection.
    func linkEstablished(_ link: PeerLink, _ hello: Hello) {
        let isKnown = table[link.device] != nil
        takeHello(hello, over: link)
        table.connectionOpened(link.device)
        if !isKnown { log.info("Device is online", ["device": link.device.short, "via": "connection"]) }
        perform(machine.connected(link.device, peers: table, at: now))
    }

    /// Handles the hello of a device.
    func takeHello(_ hello: Hello, over link: PeerLink) {
        // The source address is its own host, but the source port is not its listening port.
        let address = link.isClient ? link.address : link.address?.withPort(hello.port)
        let changes = table.receivedHello(
            hello, from: link.device, address: address.flatMap(PeerAddress.init), isProved: link.isClient,
            isFixed: link.isFixed, at: now)
        let hasKey = hello.epoch != nil && hello.epoch == snapshot.epochName
        if hasKey || hello.label.map(snapshot.isHeld) == true { records[link.device].isInSameEpoch = true }
        if hasKey { peers?.receivedUnderKey(from: link.device) }
        handle(changes)
        if let label = hello.label { learned(label) }
    }

    /// Handles newly resolved addresses of an online device.
    ///
    /// - Parameter former: the former addresses of its name.
    func resolved(_ id: DeviceID, to addresses: [SocketAddress], from former: [SocketAddress]) {
        table.resolved(
            id, to: addresses.compactMap(PeerAddress.init), from: former.compactMap(PeerAddress.init), at: now)
        peers?.pool.addressesMayDiffer(of: id)
    }

    /// Sends the latest advert to an address that the device has proved. The acknowledgement shows
    /// that the device runs although a call has no answer.
    func requestAcknowledgement(of id: DeviceID) {
        guard let peer = table[id], let label = peer.label,
            let address = peer.candidates.ranked.first(where: { $0.proved != nil })?.address
        else { return }
        sendAdvert(to: address, device: id, label: label)
    }

    /// Notes that an address of a device did not answer a call.
    func unanswered(_ id: DeviceID, at address: SocketAddress) {
        guard let address = PeerAddress(address) else { return }
        table.addressFailed(address, of: id)
    }

    /// Handles the end of a connection. Only established ones were counted.
    func linkEnded(_ link: PeerLink) {
        guard link.peerHello != nil else {
            guard link.isClient, link.trouble != nil else { return }
            return perform(machine.callFailed(to: link.device, peers: table, at: now))
        }
        table.connectionClosed(link.device, at: now)
        // After a cut, the device may still be online.
        perform(link.wasCut ? machine.connectionCut(link.device, peers: table, at: now) : [])
    }

    /// Handles the complete list of a device's activities.
    func receivedList(_ list: ActivityList, from device: DeviceID) {
        handle(table.receivedList(list, from: device, at: now))
    }

    /// Notes that a device holds the key in force: it has sealed an announcement with it.
    func noteKeyHolder(_ device: DeviceID) {
        if snapshot.isCurrent { peers?.receivedUnderKey(from: device) }
    }

    /// Sets the kind of this machine and announces it.
    func setKind(_ kind: DeviceKind) {
        announcer.setKind(kind)
        announce(renewed: .offers)
        beacons.changed()
    }

    /// Sends the state of this device to another device over a connection.
    func deliverByConnection(to id: DeviceID) {
        guard !hasDuplicateIdentity, !isSilent else { return }
        let position = announcer.position
        peers?.client.deliver(to: id) { [self] isReached in
            guard isReached else { return perform(machine.callFailed(to: id, peers: table, at: now)) }
            table.delivered(position, to: id)
            machine.delivered(to: id, peers: table)
            rearm()
        }
    }
}
