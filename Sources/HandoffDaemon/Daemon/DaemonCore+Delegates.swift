import HandoffAccount
import HandoffConfiguration
import HandoffControl
import HandoffDesktopClient
import HandoffDiscovery
import HandoffHandlers
import HandoffLog
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import LoopIO
import Timing

/// What links tell, and what they say of this device.
extension DaemonCore: LinkPoolDelegate {
    func hello(to device: DeviceID) -> Hello? {
        let snapshot = self.snapshot
        return Hello(
            software: Version.daemon, kind: kind, port: port, label: network.labels.label,
            boot: network.announcer.position.boot, seq: network.announcer.position.seq,
            listSeq: network.announcer.listSeq, seenBoot: network.table.seenBoot(of: device),
            rosterDigest: snapshot.rosterDigest, epoch: snapshot.epochName, farewell: network.farewell)
    }

    func ways(to device: DeviceID, isForRoster: Bool) -> [LinkPool.Way] {
        network.ways(to: device, isForRoster: isForRoster)
    }

    func callIsSlow(to device: DeviceID) {
        staticPeers.lookAgain(for: device)
        network.requestAcknowledgement(of: device)
    }

    func nobodyAnswered(_ device: DeviceID, at address: SocketAddress) {
        network.unanswered(device, at: address)
    }

    func news(for device: DeviceID) -> [UInt8]? { sync.takeNews(for: device) }

    var introductionStatements: [UInt8] {
        guard let roster = accountStore.state?.roster else { return [] }
        let limit = FrameCaps.introduction.maxBody(code: FrameKind.statements.rawValue) ?? 0
        return StatementList.encode(roster.introduction(of: accountStore.deviceID, limit: limit))
    }

    var removalStatements: [UInt8] { StatementList.encode(accountStore.state?.roster.removals ?? []) }

    // MARK: - Events of links

    func linkEstablished(_ link: PeerLink, hello: Hello) {
        // Its connections were closed when it was removed; should one have been overlooked, it ends here.
        guard snapshot.peerKey(link.device) != nil else { return link.close(.notLive) }
        members.heard(link.device, at: loop.now)
        contact.heard()
        members[link.device].trouble = nil
        network.linkEstablished(link, hello)
        control.reviewChanges()
        sync.heard(hello, over: link, isFirst: true)
    }

    func link(_ link: PeerLink, merge statements: [UInt8], completion: @escaping (MergeOutcome) -> Void) {
        sync.merge(link, statements, completion: completion)
    }

    func link(_ link: PeerLink, received hello: Hello) {
        network.takeHello(hello, over: link)
        sync.heard(hello, over: link, isFirst: false)
    }

    func link(_ link: PeerLink, receivedEpochKey body: [UInt8]) {
        sync.takeEpochKey(link, body)
    }

    func link(_ link: PeerLink, received request: PeerRequest) {
        service.handle(request, over: link)
    }

    func link(_ link: PeerLink, received notice: PeerNotice) {
        service.take(notice, from: link.device)
    }

    func linkSawBoot(_ seen: UInt64) {
        raiseBoot(above: seen)
    }

    func linkGrew(_ link: PeerLink) {
        pool.relieve()
    }

    func linkEnded(_ link: PeerLink) {
        pool.ended(link)
        // One that the other side has closed in order, as it does with those that are idle, is no trouble.
        let isTrouble = !(link.wasEndedByPeer && link.peerHello != nil)
        if snapshot.live.contains(link.device) {
            members[link.device].trouble = isTrouble ? link.trouble : nil
        }
        network.linkEnded(link)
        staticPeers.review()
        control.reviewChanges()
    }
}

extension DaemonCore: AccountStoreDelegate {
    package var membersInReach: Int { network.table.count }
}

/// What is heard of the other devices.
extension DaemonCore: PeerNetworkDelegate {
    var unadvertised: Set<DeviceID> { switches.unadvertised.intersection(snapshot.live) }

    func peersChanged(_ devices: Set<DeviceID>) {
        control.offersChanged(of: devices)
        staticPeers.review()
    }

    /// A member was heard under the key in force.
    func heard(_ device: DeviceID) {
        members.heard(device, at: loop.now)
        contact.heard()
        guard members.heardUnderKey(device, in: snapshot) else { return }
        control.reviewChanges()
        removals.heard(device)
        accountStore.finished(device)
    }

    func addressesMayDiffer(of device: DeviceID) { pool.addressesMayDiffer(of: device) }

    func rosterMayDiffer(_ peer: Peer) {
        sync.consider(peer)
    }

    func sighted(_ device: DeviceID) {
        if snapshot.isJoining { joining.sighted(device) } else { sync.sighted(device) }
    }

    func deliver(to device: DeviceID, completion: @escaping (Bool) -> Void) {
        client.deliver(to: device, completion: completion)
    }

    func fetchList(of device: DeviceID) {
        lists.fetch(of: device)
    }

    func foundStatic(_ service: DiscoveredService) {
        staticPeers.found(service)
    }
}

/// What is installed here; `DaemonCore+Apps` stores the claims.
extension DaemonCore: DesktopAppsDelegate {
    func installedAppsChanged() {
        control.offersChanged()
    }
}

/// What the apps here do.
extension DaemonCore: AppServiceDelegate {
    var deviceName: String { snapshot.label(of: accountStore.deviceID) }

    func isEnabled(_ app: String) -> Bool { installed.registry.isEnabled(app) }

    func restriction(of app: String) -> String? {
        guard !installed.registry.isEnabled(app) else { return nil }
        return switches.policy.forbids(app: app).map { "its app is forbidden by \($0)" } ?? "its app is switched off"
    }

    func restriction(of type: ActivityType, to recipient: DeviceID?) -> String? {
        switches.advertisingRestriction(of: type, to: recipient)
    }

    func recipient(_ text: String) throws(ActivityError) -> DeviceID {
        guard let account = accountStore.state else {
            throw .invalid(field: "to", message: "\(AccountStore.Refusal.noAccount)")
        }
        guard account.view.isLive(accountStore.deviceID) else {
            throw .invalid(field: "to", message: "\(AccountStore.Refusal.removed(account.accountID))")
        }
        guard !snapshot.others.isEmpty else {
            throw .invalid(
                field: "to", message: "there is no other device in the account: add one with 'handoffctl pair'")
        }
        switch snapshot.names.choose(text) {
        case .one(accountStore.deviceID): throw .invalid(field: "to", message: "this is the device itself")
        case .one(let device): return device
        case .nothing: throw .invalid(field: "to", message: "no other device of the account is called so")
        case .ambiguous(let devices):
            let labels = devices.map { VisibleText.escape(snapshot.names.fullLabel(of: $0)) }.joined(separator: ", ")
            throw .invalid(field: "to", message: "it fits \(labels): name one by its id")
        }
    }

    func ownOffersChanged() {
        network.say()
        control.reviewChanges()
        apps.payloads.reviewRecords()
    }

    func handlersChanged() {
        control.offersChanged()
    }

    func sessionContinues(_ session: AppSession) {
        broker.sessionContinues(session)
    }

    func sessionEnded(_ session: AppSession) {
        broker.sessionEnded(session)
        streams.sessionEnded(session.id)
    }

    func answered(_ continuation: ContinuationID, by session: SessionID, handled: Bool) -> Bool {
        broker.answered(continuation, by: session, handled: handled)
    }

    func received(_ activity: ActivityID, from device: DeviceID, by app: String, _ end: ReceivedEnd) {
        notifications.received(activity, from: device, by: app, end)
    }
}
