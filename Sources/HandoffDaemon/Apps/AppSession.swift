import HandoffControl
import HandoffControlServer
import HandoffHandlers
import HandoffModel

/// One attached app: its event stream and what it said of itself. Lives on the daemon's loop.
///
/// What an app says of itself is a claim of a process of the same user, not a boundary.
final class AppSession {
    /// Names the attachment in the app's other calls.
    let id: SessionID
    /// The app's own name for itself, shown in `opens`.
    let app: String
    /// The app's version; travels with its activities.
    let version: String?
    /// The team that continuing must match, as bytes; nil matches only nil.
    let team: String?
    /// The types that it continues, as it declared them last.
    var types: Set<ActivityType>
    /// From which versions it continues them.
    var versions: [ActivityType: VersionRange]
    /// Whether it can answer save requests; the publisher of a single activity cannot.
    let answersSaves: Bool
    /// Whether the unit of its process is that of the app.
    let isVerified: Bool
    /// Attachments are numbered, so that the latest one is preferred as handler.
    let order: UInt64
    /// Its process, in whose share its activities count.
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

    /// Sends an event; a slow or vanished client is the control server's business.
    func send(_ event: AppEvent) {
        call.replyContinuing(event.json)
    }

    /// What it is chosen by.
    var running: RunningApp { RunningApp(session: id, app: app, types: types, team: team, order: order) }

    /// Whether this app continues activities of `type` made by `team`; see `TeamRule`.
    func continues(_ type: ActivityType, team: String?) -> Bool { running.continues(type, team: team) }
}
