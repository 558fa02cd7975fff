package import HandoffModel

/// The apps that continue something here, and who is chosen for what.
///
/// For a type and a team: an app that runs, then the user's choice, then the one that was here first: what is
/// installed later takes nothing away silently. Without one, the page: an app that
/// claims its site, then the browser. What a browser shows (`NSUserActivityTypeBrowsingWeb`) goes to an app that claims the
/// site before it goes to another browser.
package struct HandlerRegistry: Sendable, Equatable {
    /// What is known of an activity's web page.
    package enum Page: Sendable, Equatable {
        /// It has none.
        case none
        /// It has one, which comes with the payload.
        case unknown
        /// It is this one.
        case at(String)
    }

    /// All apps with files, by id, in the order of their ids.
    package private(set) var handlers: [Handler] = []
    private var byID: [AppID: Handler] = [:]
    /// Whom the user has chosen for what.
    package private(set) var defaults = HandlerDefaults()
    /// Whether there is a program that opens web pages.
    package private(set) var opensPages = false
    /// Apps that the user has switched off, by id or by the name that they attach with.
    package var disabled: Set<AppID> = []
    /// Who claimed what first.
    package var history = ClaimHistory()

    /// A registry without apps.
    package init() {}

    /// - Parameters:
    ///   - handlers: of several with one id the first counts.
    ///   - opensPages: whether there is a program that opens web pages.
    package init(
        handlers: [Handler], defaults: HandlerDefaults = HandlerDefaults(), disabled: Set<AppID> = [],
        opensPages: Bool
    ) {
        self.opensPages = opensPages
        for handler in handlers where byID[handler.id] == nil { byID[handler.id] = handler }
        self.handlers = byID.values.sorted { $0.id < $1.id }
        self.defaults = defaults
        self.disabled = disabled
    }

    /// The app with this id.
    package func handler(_ id: AppID) -> Handler? { byID[id] }

    /// Whether the app that calls itself so may publish and continue.
    package func isEnabled(_ app: String) -> Bool {
        AppID(app).map { !disabled.contains($0) } ?? true
    }

    /// What people call an app: the name in its file, or what it calls itself.
    package func name(of app: String) -> String {
        AppID(app).flatMap { byID[$0] }?.name ?? app
    }

    /// The icon of an app, by its id or what it calls itself; nil when its file names none.
    package func icon(of app: String) -> String? {
        AppID(app).flatMap { byID[$0] }?.icon
    }

    /// Decides what opens an activity here.
    package func decide(
        _ type: ActivityType, team: String?, page: Page, running: [RunningApp]
    ) -> HandlerDecision {
        if type == .browsingWeb, let decision = claimer(of: page, running) { return decision }
        if let decision = continuer(type, team, running) { return decision }
        if type != .browsingWeb, let decision = claimer(of: page, running) { return decision }
        switch page {
        case .unknown: return opensPages ? HandlerDecision(.page, .hasPage) : HandlerDecision(.nothing, .noBrowser)
        case .at(let url):
            guard WebPage(url) != nil else { return HandlerDecision(.nothing, .badPage) }
            return opensPages ? HandlerDecision(.browser, .hasPage) : HandlerDecision(.nothing, .noBrowser)
        case .none: return HandlerDecision(.nothing, refusal(type, team, running))
        }
    }

    // MARK: - By type

    private func continuer(_ type: ActivityType, _ team: String?, _ running: [RunningApp]) -> HandlerDecision? {
        let wanted = defaults.apps(for: type)
        let attached = running.filter { $0.continues(type, team: team) && isEnabled($0.app) }
        if let best = Self.best(of: attached, wanted: wanted) {
            return HandlerDecision(.running(session: best.session), name: name(of: best.app), .running)
        }
        let installed = handlers.filter { $0.continues(type, team: team) && !disabled.contains($0.id) }
        return launch(of: installed, wanted: wanted) { history.place(of: $0.id, [.type(type)]) }
    }

    /// - Parameter place: where an app stands among those that claim the same.
    private func launch(
        of installed: [Handler], wanted: [AppID], place: (Handler) -> Int
    ) -> HandlerDecision? {
        for id in wanted {
            guard let chosen = installed.first(where: { $0.id == id }) else { continue }
            return HandlerDecision(.launch(chosen), name: chosen.name, .chosen)
        }
        let first = installed.min { left, right in
            let (leftPlace, rightPlace) = (place(left), place(right))
            return leftPlace == rightPlace ? Handler.isOlder(left, right) : leftPlace < rightPlace
        }
        guard let first else { return nil }
        return HandlerDecision(
            .launch(first), name: first.name, installed.count == 1 ? .only : .first(of: installed.count))
    }

    // MARK: - By site

    /// What opens a page because of its site; nil when that is the browser.
    private func claimer(of page: Page, _ running: [RunningApp]) -> HandlerDecision? {
        switch page {
        case .none: return nil
        case .unknown:
            let hasClaims = handlers.contains { !$0.domains.isEmpty && !disabled.contains($0.id) }
            return hasClaims ? HandlerDecision(.page, .hasPage) : nil
        case .at(let url):
            guard let host = WebPage(url)?.host else { return nil }
            let claimers = handlers.filter { $0.claims(host) && !disabled.contains($0.id) }
            let attached = running.filter { app in claimers.contains { $0.id.text.utf8.elementsEqual(app.app.utf8) } }
            if let best = Self.best(of: attached, wanted: defaults.apps(for: .browsingWeb)) {
                return HandlerDecision(.running(session: best.session), name: name(of: best.app), .claims(host: host))
            }
            let choice = launch(of: claimers, wanted: defaults.apps(for: .browsingWeb)) { app in
                history.place(of: app.id, app.domains.lazy.filter { $0.covers(host) }.map { .site($0) })
            }
            guard let choice else { return nil }
            return HandlerDecision(choice.opener, name: choice.name, .claims(host: host))
        }
    }

    // MARK: - Conflicts

    /// What apps claim and another one opens, since it was here before and the user has not chosen: by the app that yields, each
    /// claim with the app that opens it.
    package func yields() -> [AppID: [(claim: String, to: Handler)]] {
        var claimers: [Contest: [Handler]] = [:]
        for handler in handlers where !disabled.contains(handler.id) {
            for contest in Contest.all(of: handler) { claimers[contest, default: []].append(handler) }
        }
        var yields: [AppID: [(claim: String, to: Handler)]] = [:]
        for (contest, apps) in claimers where apps.count > 1 {
            let decision = launch(of: apps, wanted: defaults.apps(for: contest.chosenFor)) {
                history.place(of: $0.id, [contest.subject])
            }
            guard let decision, case .first = decision.reason, case .launch(let first) = decision.opener else {
                continue
            }
            for app in apps where app.id != first.id {
                yields[app.id, default: []].append((contest.subject.description, first))
            }
        }
        return yields.mapValues { $0.sorted { $0.claim < $1.claim } }
    }

    /// What several apps may claim, each for itself.
    private struct Contest: Hashable {
        let subject: ClaimHistory.Subject
        /// Apps of different teams are in no conflict about a type; nil where teams do not count.
        let team: [UInt8]?

        /// The type for which the user chooses.
        var chosenFor: ActivityType {
            if case .type(let type) = subject { type } else { .browsingWeb }
        }

        static func all(of handler: Handler) -> Set<Contest> {
            let types = handler.types.map { type in
                Contest(
                    subject: .type(type), team: type == .browsingWeb ? nil : handler.team.map { Array($0.utf8) })
            }
            return Set(types + handler.domains.map { Contest(subject: .site($0), team: nil) })
        }
    }

    // MARK: - Order

    /// Of those that run, the one that the user wants most, else the one that attached last.
    private static func best(of running: [RunningApp], wanted: [AppID]) -> RunningApp? {
        func rank(_ app: RunningApp) -> Int {
            wanted.firstIndex { $0.text.utf8.elementsEqual(app.app.utf8) } ?? wanted.count
        }
        return running.min { left, right in
            let (leftRank, rightRank) = (rank(left), rank(right))
            return leftRank == rightRank ? left.order > right.order : leftRank < rightRank
        }
    }

    /// Why no app continues it, with the most helpful of the reasons.
    private func refusal(
        _ type: ActivityType, _ team: String?, _ running: [RunningApp]
    ) -> HandlerDecision.Reason {
        if let off = running.first(where: { $0.continues(type, team: team) }) {
            return .disabled(app: name(of: off.app))
        }
        if let off = handlers.first(where: { $0.continues(type, team: team) }) { return .disabled(app: off.name) }
        if let other = running.first(where: { $0.types.contains(type) }) {
            return .otherTeam(type, app: name(of: other.app))
        }
        if let other = handlers.first(where: { $0.types.contains(type) }) {
            return .otherTeam(type, app: other.name)
        }
        return .noApp(type)
    }
}
