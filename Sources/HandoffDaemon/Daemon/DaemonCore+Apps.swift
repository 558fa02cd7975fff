import HandoffControl
import HandoffCrypto
import HandoffHandlers
import HandoffLog
import HandoffModel
import HandoffProtocol
import LoopIO

/// Which app continues what, and what people are told of it.
extension DaemonCore {
    /// Who would take an offer over, as far as it is known without the payload.
    func taker(of offer: OfferedActivity) -> Result<ContinuationBroker.Taker, HandoffFailure> {
        let decision = decide(offer)
        switch decision.opener {
        case .running(let session):
            if let app = apps.registry.session(session) { return .success(.app(app)) }
        case .launch(let handler): return .success(.launch(handler))
        case .browser, .page: return .success(.page)
        case .nothing: break
        }
        return .failure(.noHandler(type: offer.type, cause: decision.words))
    }

    /// What would open an offer, for people.
    func opens(_ activity: OfferedActivity) -> ControlOpens {
        let decision = decide(activity)
        let words = decision.words
        switch decision.opener {
        case .running, .launch: return ControlOpens(kind: .app, name: decision.name, reason: words)
        case .browser, .page: return ControlOpens(kind: .web, reason: words)
        case .nothing: return ControlOpens(kind: .nothing, reason: words)
        }
    }

    /// The apps that have files, that are attached, or that are switched off.
    func listApps() -> [ControlApp] {
        let registry = installed.registry
        let attached = apps.registry.all.filter { !$0.app.isEmpty }
        let yields = registry.yields()
        var list = registry.handlers.map { handler in
            let sessions = attached.filter { $0.app.utf8.elementsEqual(handler.id.text.utf8) }
            let source: ControlApp.Source =
                switch handler.source {
                case .desktop: .desktop
                case .manifest: .manifest
                }
            return ControlApp(
                id: handler.id.text, name: handler.name, source: source, file: handler.path,
                types: handler.types.map(\.text).sorted(), team: handler.team,
                domains: handler.domains.map(\.description), running: !sessions.isEmpty,
                verified: sessions.last?.isVerified, enabled: registry.isEnabled(handler.id.text),
                yields: (yields[handler.id] ?? []).map { ControlApp.Yield(claim: $0.claim, to: $0.to.id.text) })
        }
        var known = Set(list.map { Array($0.id.utf8) })
        for session in attached.reversed() where known.insert(Array(session.app.utf8)).inserted {
            list.append(
                ControlApp(
                    id: session.app, name: session.app, source: .attached, file: nil,
                    types: session.types.map(\.text).sorted(), team: session.team, domains: [], running: true,
                    verified: session.isVerified, enabled: registry.isEnabled(session.app)))
        }
        for id in disabledApps.ids where known.insert(Array(id.text.utf8)).inserted {
            list.append(
                ControlApp(
                    id: id.text, name: id.text, source: .none, file: nil, types: [], team: nil, domains: [],
                    running: false, verified: nil, enabled: false))
        }
        return list.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    }

    /// Switches an app on or off, for ever.
    ///
    /// - Parameters:
    ///   - text: its id, or the beginning of its id if no other has that.
    ///   - completion: gets the whole id.
    func setApp(_ text: String, enabled: Bool, completion: @escaping (Result<String, any Error>) -> Void) {
        let known = listApps().map(\.id)
        let fitting =
            known.contains { $0.utf8.elementsEqual(text.utf8) }
            ? [text] : known.filter { $0.utf8.starts(with: text.utf8) }
        guard fitting.count < 2 || text.isEmpty else {
            return completion(.failure(CallError.ambiguous(text, fitting, of: "apps")))
        }
        guard !text.isEmpty, let full = fitting.first, let id = AppID(full) else {
            return completion(.failure(CallError.noSuchApp(text)))
        }
        var next = disabledApps
        if enabled { next.ids.remove(id) } else { next.ids.insert(id) }
        guard next.encoded() != nil else {
            return completion(.failure(CallError.limitExceeded("apps", "too many apps are switched off")))
        }
        worker.run({ [folder = stored.folder, next] in try folder.store(apps: next) }, on: loop) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success:
                takeDisabled(next)
                completion(.success(full))
            case .failure(let error): completion(.failure(error))
            }
        }
    }

    /// Stores which app claimed what first. Without it the order is another after a restart, and nothing else.
    func store(_ claims: ClaimHistory) {
        worker.run({ [folder = stored.folder] in try folder.store(claims: claims) }, on: loop) { [weak self] result in
            guard case .failure(let error) = result else { return }
            self?.log.error("Cannot store which app was here first", ["error": "\(error)"])
        }
    }

    /// Takes which apps are switched off: what they publish is on offer no more, and they continue nothing.
    func takeDisabled(_ disabled: DisabledApps) {
        disabledApps = disabled
        disableApps()
        network.say()
        control.offersChanged()
    }

    private func decide(_ offer: OfferedActivity) -> HandlerDecision {
        decide(offer.type, offer.team, offer.hasWebpageURL ? .unknown : .none)
    }

    private func decide(_ type: ActivityType, _ team: String?, _ page: HandlerRegistry.Page) -> HandlerDecision {
        installed.registry.decide(type, team: team, page: page, running: apps.registry.running)
    }
}
