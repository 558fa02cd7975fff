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

    /// Returns the kept activities of other devices that may be received here, most recently saved
    /// first.
    ///
    /// - Parameter isRecent: includes those of this device, and those from before a device's last start.
    func keptOffers(of devices: Set<DeviceID>? = nil, isRecent: Bool = false) -> [KeptOffers.KeptOffer] {
        core.keptOffers.list(isRecent: isRecent).filter {
            devices?.contains($0.offer.device) ?? true
                && switches.allows(.receive, of: $0.offer.activity.type, with: $0.offer.device)
        }
    }

    /// Returns the offers that may be received here, as values of the control interface, most
    /// recent first, then the kept activities.
    ///
    /// - Parameter devices: the devices to include; nil for all.
    func shownOffers(of devices: Set<DeviceID>? = nil) -> [OfferedActivity] {
        let kept = keptOffers(of: devices).map { ($0.offer, ControlKept?.some($0.state)) }
        return shown(offers(of: devices).map { ($0, nil) } + kept)
    }

    /// Returns the kept activities that no device offers now, as values of the control interface, most
    /// recently saved first.
    func shownRecent() -> [OfferedActivity] {
        shown(keptOffers(isRecent: true).map { ($0.offer, $0.state) })
    }

    private func shown(_ offers: [(offer: Offer, kept: ControlKept?)]) -> [OfferedActivity] {
        let running = apps.registry.running
        var origins: [DeviceID: Origin] = [:]
        // Most of many offers are of a few kinds, and each decision examines all apps.
        var openers: [OpenerKey: (opens: ControlOpens, missing: [ControlMissing])] = [:]
        let now = loop.now
        return offers.map { offer, kept in
            let (device, activity) = (offer.device, offer.activity)
            let origin = origins[device] ?? peers.origin(of: device)
            origins[device] = origin
            let key = OpenerKey(activity)
            let opener = openers[key] ?? opener(activity, running)
            openers[key] = opener
            return OfferedActivity(
                id: activity.id, type: activity.type, title: activity.title, team: activity.team, device: device,
                deviceName: origin.deviceName, deviceKind: origin.deviceKind, streams: activity.supportsStreams,
                hasWebpageURL: activity.hasWebpageURL, age: Double(offer.age(at: now)), sent: activity.isSent,
                opens: opener.opens, missing: opener.missing, kept: kept,
                exclusive: activity.isExclusive)
        }.map(offerTable.settled)
    }

    /// Returns the recipient of an offer, as far as it is known without the payload.
    ///
    /// - Parameter request: the user's choice of a recipient; nil for none.
    /// - Throws: if nothing opens the offer, or not the chosen recipient.
    func recipient(
        of offer: ActivitySummary, for request: ContinueRequest? = nil
    ) throws -> ContinuationBroker.Recipient {
        if request?.web == true {
            guard offer.hasWebpageURL else {
                throw HandoffFailure.pageNotOpened(nil, cause: "it has none")
            }
            return .browser
        }
        let running = apps.registry.running
        var decision = decide(offer, running)
        if let app = request?.app {
            let chosen = installed.registry.decide(offer.type, team: offer.team, by: app, running: running)
            guard let chosen else {
                throw HandoffFailure.notOpened(by: app, cause: "no such app is installed or attached")
            }
            guard chosen.opener != .nothing else { throw HandoffFailure.notOpened(by: app, cause: chosen.words) }
            decision = chosen
        }
        switch decision.opener {
        case .running(let session):
            if let app = apps.registry.session(session) { return .app(app) }
        case .launch(let handler): return .launch(handler)
        case .browser, .page: return .page
        case .nothing: break
        }
        let steps = opener(offer, running).missing.compactMap(\.remedy)
        throw HandoffFailure.noHandler(type: offer.type, cause: ([decision.words] + steps).joined(separator: "; "))
    }

    /// Returns what would open an offer, and what is missing for it, for display.
    private func opener(
        _ offer: ActivitySummary, _ running: [RunningApp]
    ) -> (opens: ControlOpens, missing: [ControlMissing]) {
        var opens = opens(decide(offer, running))
        let choices = installed.registry.choices(offer.type, team: offer.team, running: running)
        if choices.count > 1 { opens.choices = choices.map { ControlOpens.Choice(app: $0.app, name: $0.name) } }
        let isMissing = opens.kind != .app && !installed.registry.declares(offer.type, running: running)
        // Every device opens pages, and the project's own types belong to no app in a catalog.
        guard isMissing, offer.type != .browsingWeb, !offer.type.text.hasPrefix("dev.handoff1.") else {
            return (opens, [])
        }
        let component = core.catalog.app(for: offer.type)?.text
        return (opens, [ControlMissing(.app, name: component ?? offer.type.text, appStream: component)])
    }

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
