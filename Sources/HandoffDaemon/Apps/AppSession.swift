import HandoffControl
import HandoffHandlers
import HandoffModel

/// One attached app: its event stream and its declarations. Lives on the daemon's loop.
///
/// The declarations are claims by a process of the same user, not a security boundary.
final class AppSession {
    /// The id of the attachment in the app's other calls.
    let id: SessionID
    /// The id that the app claims, shown in `opens`.
    let app: String
    /// The app's version, sent with its activities.
    let version: String?
    /// The team that activities must match, compared as bytes; nil matches only nil.
    let team: String?
    /// The types that the app continues, from its last declaration.
    var types: Set<ActivityType>
    /// The versions from which it continues them.
    var versions: [ActivityType: VersionRange]
    /// Whether the app can answer save requests. The publisher of a single activity cannot.
    let answersSaves: Bool
    /// Whether the unit of the process belongs to the app.
    let isVerified: Bool
    /// The number of the attachment. The latest one is preferred as handler.
    let order: UInt64
    /// The client group that the app's activities are counted for.
    var group: ClientGroup { call.client.group }
    private let call: ControlCall

    init(
        id: SessionID, app: String, version: String?, team: String?, types: Set<ActivityType>,
        versions: [ActivityType: VersionRange] = [:], answersSaves: Bool,
        isVerified: Bool, order: UInt64, call: ControlCall
    ) {
        self.id = id
        self.app = app
        self.version = version
        self.team = team
        self.types = types
        self.versions = versions
        self.answersSaves = answersSaves
        self.isVerified = isVerified
        self.order = order
        self.call = call
    }

    /// Sends an event. The control server handles slow and disconnected clients.
    func send(_ event: AppEvent) {
        call.replyContinuing(event.json)
    }

    /// The app as the origin of its activities.
    var origin: PayloadOrigin { PayloadOrigin(app: app, appVersion: version) }

    /// The properties by which a handler is selected.
    var running: RunningApp { RunningApp(session: id, app: app, types: types, team: team, order: order) }

    /// Returns whether this app continues activities of `type` by `team`; see `TeamRule`.
    func continues(_ type: ActivityType, team: String?) -> Bool { running.continues(type, team: team) }
}
