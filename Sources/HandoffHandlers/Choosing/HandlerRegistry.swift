import HandoffJSON
package import HandoffModel

/// The apps that continue activities on this device, and the user's choices.
///
/// The order for a type and a team is: a running app, the user's choice, the app that was installed
/// first, so that a later one takes over nothing silently. Otherwise an app that claims the page's
/// site, and finally the browser. A page from a browser (`NSUserActivityTypeBrowsingWeb`) is opened
/// by an app that claims its site rather than by another browser.
package struct HandlerRegistry: Sendable, Equatable {
    /// The knowledge about an activity's web page.
    package enum Page: Sendable, Equatable {
        /// The activity has no page.
        case none
        /// The activity has a page, which arrives with the payload.
        case unknown
        /// The activity has this page.
        case at(String)
    }

    /// All apps with files, in the order of their ids.
    package private(set) var handlers: [Handler] = []
    private var byID: [AppID: Handler] = [:]
    /// The user's choices.
    package private(set) var defaults = HandlerDefaults()
    /// True if a program that opens web pages is installed.
    private(set) var opensPages = false
    /// The apps that the user has disabled, by id or by the name with which they attach.
    package var disabled: Set<AppID> = []
    /// The order of claims.
    package var history = ClaimHistory()

    /// A registry without apps.
    package init() {}

    /// - Parameters:
    ///   - handlers: The apps; of several with the same id, the first counts.
    ///   - opensPages: True if a program that opens web pages is installed.
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

    /// True if the app with this name may publish and continue.
    package func isEnabled(_ app: String) -> Bool {
        AppID(app).map { !disabled.contains($0) } ?? true
    }

    /// Returns the display name of an app: the name in its file, or the name it attached with.
    package func name(of app: String) -> String {
        AppID(app).flatMap { byID[$0] }?.name ?? app
    }

    /// Returns the icon of an app by its id or attached name; nil if its file has none.
    package func icon(of app: String) -> String? {
        AppID(app).flatMap { byID[$0] }?.icon
    }

    /// Decides how an activity is opened on this device.
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

    /// Returns whether an app here declares a type, whatever its team, even if it is disabled.
    package func declares(_ type: ActivityType, running: [RunningApp]) -> Bool {
        handlers.contains { $0.types.contains(type) } || running.contains { $0.types.contains(type) }
    }

    // MARK: - The user's choice for one activity

    /// Returns the apps that continue a type, sorted by name, each once with its id and its name.
    package func choices(
        _ type: ActivityType, team: String?, running: [RunningApp]
    ) -> [(app: String, name: String)] {
        var apps: [BytewiseText: (app: String, name: String)] = [:]
        for app in running where app.continues(type, team: team) && isEnabled(app.app) && !app.app.isEmpty {
            apps[BytewiseText(app.app)] = (app.app, name(of: app.app))
        }
        for handler in handlers where handler.continues(type, team: team) && !disabled.contains(handler.id) {
            apps[BytewiseText(handler.id.text)] = (handler.id.text, handler.name)
        }
        return apps.values.sorted { left, right in
            left.name == right.name
                ? left.app.utf8.lexicographicallyPrecedes(right.app.utf8)
                : left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
        }
    }

    /// Decides how an activity is opened by the app with this id: running, or started. Nil if no
    /// such app is known.
    package func decide(
        _ type: ActivityType, team: String?, by app: String, running: [RunningApp]
    ) -> HandlerDecision? {
        let attached = running.filter { $0.app.utf8.elementsEqual(app.utf8) }
        let installed = AppID(app).flatMap { byID[$0] }
        guard !attached.isEmpty || installed != nil else { return nil }
        let name = name(of: app)
        guard isEnabled(app) else { return HandlerDecision(.nothing, .disabled(app: name)) }
        if let best = Self.best(of: attached.filter { $0.continues(type, team: team) }, wanted: []) {
            return HandlerDecision(.running(session: best.session), name: name, .running)
        }
        if let installed, installed.continues(type, team: team) {
            return HandlerDecision(.launch(installed), name: name, .chosen)
        }
        let isDeclared = installed?.types.contains(type) == true || attached.contains { $0.types.contains(type) }
        return HandlerDecision(.nothing, isDeclared ? .otherTeam(type, app: name) : .otherApp(type, app: name))
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

    /// - Parameter place: The position of an app among those that claim the same.
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

    /// Returns the app that claims a page's site; nil if the browser opens it.
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

    /// Returns the claims that are served by an earlier app because the user has not chosen: by the
    /// yielding app, each claim with the app that opens it.
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

    /// A subject that several apps may claim independently.
    private struct Contest: Hashable {
        let subject: ClaimHistory.Subject
        /// The team, because apps of different teams do not compete for a type; nil if teams do not
        /// matter.
        let team: [UInt8]?

        /// The type for which the user can choose.
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

    /// Returns the running app that the user prefers; otherwise the one that attached last.
    private static func best(of running: [RunningApp], wanted: [AppID]) -> RunningApp? {
        func rank(_ app: RunningApp) -> Int {
            wanted.firstIndex { $0.text.utf8.elementsEqual(app.app.utf8) } ?? wanted.count
        }
        return running.min { left, right in
            let (leftRank, rightRank) = (rank(left), rank(right))
            return leftRank == rightRank ? left.order > right.order : leftRank < rightRank
        }
    }

    /// Returns the most helpful reason why no app continues an activity.
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
