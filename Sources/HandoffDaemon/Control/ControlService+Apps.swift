import HandoffControl
import HandoffHandlers
import HandoffModel
import HandoffState
import LoopIO

/// The apps of this device in the control interface.
extension ControlService {
    /// Returns the apps that are installed, attached, or have a setting.
    func listApps() -> [ControlApp] {
        let registry = installed.registry
        let stored = core.appSwitches
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
                notified: !stored.muted.contains(handler.id), kept: core.isKept(handler.id.text),
                yields: (yields[handler.id] ?? []).map { ControlApp.Yield(claim: $0.claim, to: $0.to.id.text) })
        }
        var known = Set(list.map { Array($0.id.utf8) })
        for session in attached.reversed() where known.insert(Array(session.app.utf8)).inserted {
            list.append(
                ControlApp(
                    id: session.app, name: session.app, source: .attached, file: nil,
                    types: session.types.map(\.text).sorted(), team: session.team, domains: [], running: true,
                    verified: session.isVerified, enabled: registry.isEnabled(session.app),
                    notified: !isMuted(session.app), kept: core.isKept(session.app)))
        }
        for id in stored.disabled.union(stored.muted).union(stored.unkept)
        where known.insert(Array(id.text.utf8)).inserted {
            list.append(
                ControlApp(
                    id: id.text, name: id.text, source: .none, file: nil, types: [], team: nil, domains: [],
                    running: false, verified: nil, enabled: !stored.disabled.contains(id),
                    notified: !stored.muted.contains(id), kept: core.isKept(id.text)))
        }
        return list.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    }

    private func isMuted(_ app: String) -> Bool { AppID(app).map(core.appSwitches.muted.contains) ?? false }

    /// Changes a permanent setting of an app.
    ///
    /// - Parameters:
    /// - text: its id, or a unique beginning of it.
    /// - change: the change of the switches for the app.
    /// - completion: receives the full id.
    func setApp(
        _ text: String, _ change: (inout AppSwitches, AppID) -> Void,
        completion: @escaping (Result<String, any Error>) -> Void
    ) {
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
        var next = core.appSwitches
        change(&next, id)
        guard next.encoded() != nil else {
            return completion(.failure(CallError.limitExceeded("apps", "too many apps are switched off")))
        }
        core.store(next) { completion($0.map { full }) }
    }
}
