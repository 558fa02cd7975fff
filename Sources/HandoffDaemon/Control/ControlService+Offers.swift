import HandoffControl
import HandoffDesktopClient
import HandoffHandlers
import HandoffModel
import HandoffPeers
import HandoffProtocol
import Timing

/// What the other devices offer, and what would open it here.
extension ControlService {
    /// What the other devices offer and may be received here.
    func offers() -> [RemoteOffer] {
        allOffers().filter { core.switches.allows(.receive, of: $0.activity.type, with: $0.device) }
    }

    /// What they offer and may not be received.
    func hiddenOffers() -> [RemoteOffer] {
        allOffers().filter { !core.switches.allows(.receive, of: $0.activity.type, with: $0.device) }
    }

    private func allOffers() -> [RemoteOffer] {
        let now = core.network.now
        return core.network.table.all.flatMap { peer in
            peer.offers.map { offer in
                let age = offer.age(at: now).components.seconds
                let activity = offer.activity
                return RemoteOffer(
                    device: peer.deviceID,
                    activity: OfferedActivity(
                        id: activity.id, type: activity.type, title: activity.title, team: activity.team,
                        supportsStreams: activity.supportsStreams, hasWebpageURL: activity.hasWebpageURL,
                        age: UInt32(clamping: age), isSent: activity.isSent))
            }
        }.sorted { $0.activity.age < $1.activity.age }
    }

    /// An offer as the control interface shows it.
    func shown(_ offer: RemoteOffer) -> ControlActivity {
        let activity = offer.activity
        let origin = core.network.origin(of: offer.device)
        return ControlActivity(
            id: activity.id, type: activity.type, title: activity.title, team: activity.team, device: offer.device,
            deviceName: origin.deviceName, deviceKind: origin.deviceKind, streams: activity.supportsStreams,
            hasWebpageURL: activity.hasWebpageURL, age: Double(activity.age), sent: activity.isSent,
            opens: opens(activity))
    }

    /// Who would take an offer over, as far as it is known without the payload.
    func recipient(of offer: OfferedActivity) -> Result<ContinuationBroker.Recipient, HandoffFailure> {
        let decision = decide(offer)
        switch decision.opener {
        case .running(let session):
            if let app = core.apps.registry.session(session) { return .success(.app(app)) }
        case .launch(let handler): return .success(.launch(handler))
        case .browser, .page: return .success(.page)
        case .nothing: break
        }
        return .failure(.noHandler(type: offer.type, cause: decision.words))
    }

    /// What would open an offer, for people.
    private func opens(_ activity: OfferedActivity) -> ControlOpens {
        let decision = decide(activity)
        let words = decision.words
        switch decision.opener {
        case .running(let session):
            let app = core.apps.registry.session(session)?.app
            return ControlOpens(
                kind: .app, name: decision.name, reason: words, app: app,
                icon: app.flatMap(core.installed.registry.icon))
        case .launch(let handler):
            return ControlOpens(
                kind: .app, name: decision.name, reason: words, app: handler.id.text, icon: handler.icon)
        case .browser, .page: return ControlOpens(kind: .web, reason: words)
        case .nothing: return ControlOpens(kind: .nothing, reason: words)
        }
    }

    private func decide(_ offer: OfferedActivity) -> HandlerDecision {
        core.installed.registry.decide(
            offer.type, team: offer.team, page: offer.hasWebpageURL ? .unknown : .none,
            running: core.apps.registry.running)
    }
}
