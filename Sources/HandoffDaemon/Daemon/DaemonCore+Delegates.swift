import HandoffAccount
import HandoffControl
import HandoffDiscovery
import HandoffHandlers
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import HandoffTransport
import LoopIO

extension DaemonCore: AccountStoreDelegate {
    package var onlineMemberCount: Int { peers.table.count }
}

extension DaemonCore: PeersDelegate {
    var unadvertisedDevices: Set<DeviceID> { switches.unadvertised }

    func offersChanged(of devices: Set<DeviceID>) {
        keeping.review()
        control.offersChanged(of: devices)
    }

    func messageReceived(from device: DeviceID, isFirstUnderKey: Bool) {
        contact.heard()
        guard isFirstUnderKey else { return }
        control.reviewChanges()
        removals.heard(device)
    }

    func linksChanged() {
        control.reviewChanges()
    }

    func answer(_ request: PeerRequest, over link: PeerLink) {
        handover.answer(request, from: link.device) { link.respond(to: request.id, with: $0) }
    }

    func handle(_ notice: PeerNotice, from device: DeviceID) {
        handover.handle(notice, from: device)
    }

    func keptChanged(_ new: [KeptRecord]) { keeping.take(new) }

    func acceptStream(_ connection: PeerConnection, from device: DeviceID) {
        streams.accept(connection, from: device)
    }
}

/// The installed apps. `DaemonCore+Apps` stores the claims.
extension DaemonCore {
    /// The app that would open an activity may have changed.
    func installedAppsChanged() {
        catalog.forgetUnknown()
        control.offersChanged()
    }

    /// The software catalogs have an app that is not installed, for a type on offer.
    func componentsChanged() {
        control.offersChanged()
    }
}

/// The values that `AppService` needs from other parts, and the events of local apps.
extension DaemonCore {
    /// Returns whether the app with this id may publish and continue.
    func isEnabled(_ app: String) -> Bool { installed.registry.isEnabled(app) }

    /// Returns whether other devices may keep the activities of the app with this id.
    func isKept(_ app: String) -> Bool { AppID(app).map { !appSwitches.unkept.contains($0) } ?? true }

    /// The reason why the activities of the app with this id are not offered; nil while it may
    /// publish.
    func restriction(of app: String) -> String? {
        guard !installed.registry.isEnabled(app) else { return nil }
        return switches.policy.forbids(app: app).map { "its app is forbidden by \($0)" } ?? "its app is switched off"
    }

    /// The reason why an activity of a type is not offered now to one device, or to all; nil if it
    /// may be.
    func restriction(of type: ActivityType, to recipient: DeviceID?) -> String? {
        switches.advertisingRestriction(of: type, to: recipient)
    }

    /// Returns the other device of the account that matches a name or the beginning of an id.
    func recipient(_ text: String) throws(ActivityError) -> DeviceID {
        guard let account = accountStore.state else {
            throw .invalid(field: "to", message: "\(AccountStore.Refusal.noAccount)")
        }
        guard account.view.isLive(accountStore.deviceID) else {
            throw .invalid(field: "to", message: "\(AccountStore.Refusal.removed(account.accountID))")
        }
        guard !snapshot.others.isEmpty else {
            throw .invalid(
                field: "to", message: "the account has no other device: add one with 'handoffctl pair'")
        }
        switch snapshot.names.choose(text) {
        case .one(accountStore.deviceID): throw .invalid(field: "to", message: "this is the device itself")
        case .one(let device): return device
        case .nothing: throw .invalid(field: "to", message: "no other device of the account has this name")
        case .ambiguous(let devices):
            let labels = devices.map { VisibleText.escape(snapshot.names.fullLabel(of: $0)) }.joined(separator: ", ")
            throw .invalid(field: "to", message: "it matches \(labels): specify one by its id")
        }
    }

    /// The local offers have changed.
    func ownOffersChanged() {
        peers.offersChanged()
        keeping.review()
        control.reviewChanges()
        handover.reviewRecords()
    }

    /// The set of attached handlers has changed, and with it the app that would open an offer.
    func handlersChanged() {
        control.offersChanged()
    }

    /// An app has attached, or changed its declared types.
    func sessionContinues(_ session: AppSession) {
        broker.sessionContinues(session)
    }

    /// An attachment ended.
    func sessionEnded(_ session: AppSession) {
        broker.sessionEnded(session)
        streams.sessionEnded(session.id)
        notifications.sessionEnded(session.id)
    }

    /// A handler answered a `continue` event. Returns whether a continuation waited for it.
    func answered(
        _ continuation: ContinuationID, by session: SessionID, handled: Bool, failure: String?
    ) -> Bool {
        broker.answered(continuation, by: session, handled: handled, failure: failure)
    }

    /// An app reports the progress of an item that it receives. Returns the reply.
    func progressed(_ report: ReportProgressRequest, by app: String) -> ReportProgressReply {
        notifications.progressed(report, by: app)
    }

    /// An app reports the outcome of an item that it received from another device.
    func received(_ activity: ActivityID, from device: DeviceID, by app: String, _ end: ReceivedEnd) {
        notifications.received(activity, from: device, by: app, end)
    }
}
