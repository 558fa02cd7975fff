import HandoffControl
import HandoffModel
import LoopIO

/// An activity of an app at a device that is played.
struct PlayedActivity {
    var content: ActivityContent
    var needsSave: Bool
}

/// An app that is attached to a device that is played. On the loop's thread.
final class PlayedSession {
    /// How long an app may take to save before what was saved last travels, as at a daemon.
    private static let timeToSave = Duration.seconds(1)

    let id: String
    private(set) var request: AttachRequest
    private(set) var activities: [ActivityID: PlayedActivity] = [:]
    /// What the app's user is engaged in.
    private(set) var current: ActivityID?
    private let events: PlayedCall
    private let loop: EventLoop
    /// Who waits for an activity to be saved.
    private var saves: [ActivityID: [() -> Void]] = [:]
    private var saveTimers: [ActivityID: LoopTimer] = [:]
    /// Who waits for the app to answer; told nil when the app has gone.
    private var answers: [ContinuationID: (Bool?) -> Void] = [:]

    /// Attaches an app.
    /// - Parameter events: the call for which all events are replies.
    init(_ request: AttachRequest, events: PlayedCall, loop: EventLoop) {
        id = ActivityID.random.hex
        self.request = request
        self.events = events
        self.loop = loop
        tell(.attached(session: id))
    }

    /// The connection on which it has its events.
    var connection: PlayedConnection { events.connection }

    /// Tells the app that something happened.
    func tell(_ event: AppEvent) { events.reply(event.json, continues: true) }

    /// The app has gone.
    func ended() {
        activities = [:]
        current = nil
        let waiting = answers
        answers = [:]
        for answer in waiting.values { answer(nil) }
        for id in Array(saves.keys) { saved(id) }
    }

    /// Whether the app continues activities of a type and a team.
    func takes(_ content: ActivityContent) -> Bool {
        request.types.contains(content.type) && (content.type == .browsingWeb || content.team == request.team)
    }

    // MARK: What the app says

    func declare(_ declaration: DeclareRequest) {
        request.types = declaration.types
        request.versions = declaration.versions
    }

    func publish(_ description: ActivityDescription) throws(ActivityError) -> ActivityID {
        let content = try description.content(sessionTeam: request.team)
        try content.validate(maxPayload: Limits.payloadMaximum)
        let id = ActivityID.random
        activities[id] = PlayedActivity(content: content, needsSave: description.needsSave ?? true)
        return id
    }

    /// Changes an activity.
    /// - Returns: whether the app has it.
    func change(_ id: ActivityID, _ change: ActivityChange?) throws(ActivityError) -> Bool {
        guard var activity = activities[id] else { return false }
        if let change {
            activity.content = change.applied(to: activity.content)
            try activity.content.validate(maxPayload: Limits.payloadMaximum)
            if let needsSave = change.needsSave { activity.needsSave = needsSave }
        }
        activities[id] = activity
        return true
    }

    func becomeCurrent(_ id: ActivityID) {
        current = id
        save(id) {}
    }

    func resignCurrent(_ id: ActivityID) {
        if current == id { current = nil }
    }

    func invalidate(_ id: ActivityID) {
        resignCurrent(id)
        activities[id] = nil
        saved(id)
    }

    // MARK: Saving

    /// Has the app bring an activity up to date, if there is news.
    /// - Parameter then: is called once it has, or has not in time.
    func save(_ id: ActivityID, _ then: @escaping () -> Void) {
        if saves[id] != nil { return saves[id, default: []].append(then) }
        guard activities[id]?.needsSave == true else { return then() }
        activities[id]?.needsSave = false
        saves[id] = [then]
        saveTimers[id] = loop.timer(after: Self.timeToSave) { [weak self] in self?.saved(id) }
        tell(.save(id))
    }

    /// The app has answered that it has saved.
    func saved(_ id: ActivityID) {
        saveTimers[id] = nil
        for then in saves.removeValue(forKey: id) ?? [] { then() }
    }

    // MARK: Continuing

    /// Gives an activity to the app.
    func give(_ id: ContinuationID, _ content: ContinuedActivity, answer: @escaping (Bool?) -> Void) {
        answers[id] = answer
        tell(.continue(id, content))
    }

    /// The app says whether it takes an activity over.
    /// - Returns: whether it was asked.
    func answered(_ id: ContinuationID, handled: Bool) -> Bool {
        guard let answer = answers.removeValue(forKey: id) else { return false }
        answer(handled)
        return true
    }
}

extension FixedBytes {
    /// A value that no other one has.
    static var random: Self { Self(checked: (0..<byteCount).map { _ in .random(in: 0...255) }) }
}
