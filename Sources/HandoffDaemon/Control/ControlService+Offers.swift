import HandoffControl
import HandoffHandlers
import HandoffJSON
import HandoffModel
import HandoffPeers
import HandoffProtocol
import LoopIO

/// The offers of the other devices, and what would open them here.
extension ControlService {
    /// Returns the offers of other devices that may be received here, most recent first.
    ///
    /// - Parameter devices: the devices to include; nil for all.
    func offers(of devices: Set<DeviceID>? = nil) -> [Offer] {
        allOffers(of: devices).filter { switches.allows(.receive, of: $0.activity.type, with: $0.device) }
    }

    /// Returns the offers of other devices that may not be received here.
    func hiddenOffers() -> [Offer] {
        allOffers().filter { !switches.allows(.receive, of: $0.activity.type, with: $0.device) }
    }

    private func allOffers(of devices: Set<DeviceID>? = nil) -> [Offer] {
        let (now, table) = (loop.now, peers.table)
        let online = devices.map { $0.sorted().compactMap { table[$0] } } ?? table.all
        return online.flatMap(\.offers).sorted { $0.age(at: now) < $1.age(at: now) }
    }

    /// Returns the offers that may be received here, as values of the control interface, most
    /// recent first.
    ///
    /// - Parameter devices: the devices to include; nil for all.
    func shownOffers(of devices: Set<DeviceID>? = nil) -> [OfferedActivity] {
        let running = apps.registry.running
        var origins: [DeviceID: Origin] = [:]
        // Most of many offers are of a few kinds, and each decision examines all apps.
        var openers: [OpenerKey: ControlOpens] = [:]
        let now = loop.now
        return offers(of: devices).map { offer in
            let (device, activity) = (offer.device, offer.activity)
            let origin = origins[device] ?? peers.origin(of: device)
            origins[device] = origin
            let key = OpenerKey(activity)
            let opens = openers[key] ?? opens(decide(activity, running))
            openers[key] = opens
            return OfferedActivity(
                id: activity.id, type: activity.type, title: activity.title, team: activity.team, device: device,
                deviceName: origin.deviceName, deviceKind: origin.deviceKind, streams: activity.supportsStreams,
                hasWebpageURL: activity.hasWebpageURL, age: Double(offer.age(at: now)), sent: activity.isSent,
                opens: opens)
        }
    }

    /// Returns the recipient of an offer, as far as it is known without the payload.
    func recipient(of offer: ActivitySummary) -> Result<ContinuationBroker.Recipient, HandoffFailure> {
        let decision = decide(offer, apps.registry.running)
        switch decision.opener {
        case .running(let session):
            if let app = apps.registry.session(session) { return .success(.app(app)) }
        case .launch(let handler): return .success(.launch(handler))
        case .browser, .page: return .success(.page)
        case .nothing: break
        }
        return .failure(.noHandler(type: offer.type, cause: decision.words))
    }

    /// Returns what would open an offer, for display.
    private func opens(_ decision: HandlerDecision) -> ControlOpens {
        let words = decision.words
        switch decision.opener {
        case .running(let session):
            let app = apps.registry.session(session)?.app
            return ControlOpens(
                kind: .app, name: decision.name, reason: words, app: app,
                icon: app.flatMap(installed.registry.icon))
        case .launch(let handler):
            return ControlOpens(
                kind: .app, name: decision.name, reason: words, app: handler.id.text, icon: handler.icon)
        case .browser, .page: return ControlOpens(kind: .web, reason: words)
        case .nothing: return ControlOpens(kind: .nothing, reason: words)
        }
    }

    private func decide(_ offer: ActivitySummary, _ running: [RunningApp]) -> HandlerDecision {
        installed.registry.decide(
            offer.type, team: offer.team, page: offer.hasWebpageURL ? .unknown : .none, running: running)
    }
}

/// The properties of an offer that determine what opens it. Offers with equal keys share one
/// decision.
private struct OpenerKey: Hashable {
    let type: ActivityType
    /// Teams are compared as bytes, as `TeamRule` does.
    let team: BytewiseText?
    let hasWebpageURL: Bool

    init(_ offer: ActivitySummary) {
        type = offer.type
        team = offer.team.map(BytewiseText.init)
        hasWebpageURL = offer.hasWebpageURL
    }
}
