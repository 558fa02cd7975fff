import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO

struct SimulatedActivity {
    var content: ActivityContent
    var needsSave: Bool
}

/// An app that is attached to a simulated device. On the loop's thread.
final class SimulatedSession {
    /// The maximum time for a save. After that, the last saved state is sent. Longer than in the daemon, so that the
    /// result of a test does not depend on the load of the machine.
    private static let saveTimeout = Duration.seconds(30)

    let id: String
    private(set) var request: AttachRequest
    private(set) var activities: [ActivityID: SimulatedActivity] = [:]
    /// The activity that the app's user is engaged in.
    private(set) var current: ActivityID?
    private let events: SimulatedCall
    private let loop: EventLoop
    /// The handlers waiting for an activity to be saved.
    private var saves: [ActivityID: [() -> Void]] = [:]
    private var saveTimers: [ActivityID: LoopTimer] = [:]
    /// The handlers waiting for the app's reply. They receive nil if the app has ended.
    private var answers: [ContinuationID: (Bool?) -> Void] = [:]

    /// Attaches an app.
    /// - Parameter events: the call whose replies are the events.
    init(_ request: AttachRequest, events: SimulatedCall, loop: EventLoop) {
        id = ActivityID.random.hex
        self.request = request
        self.events = events
        self.loop = loop
        send(.attached(session: id))
    }

    var connection: SimulatedConnection { events.connection }

    func send(_ event: AppEvent) { events.reply(event.json, continues: true) }

    func ended() {
        activities = [:]
        current = nil
        let waiting = answers
        answers = [:]
        for answer in waiting.values { answer(nil) }
        for id in Array(saves.keys) { saved(id) }
    }

    /// Returns whether the app continues activities of this type and team.
    func takes(_ content: ActivityContent) -> Bool {
        request.types.contains(content.type)
            && (content.type == .browsingWeb || content.team.hasSameBytes(as: request.team))
    }

    // MARK: Requests from the app

    func declare(_ declaration: DeclareRequest) {
        request.types = declaration.types
        request.versions = declaration.versions
    }

    func publish(_ description: ActivityDescription) throws(ActivityError) -> ActivityID {
        let content = try description.content(sessionTeam: request.team)
        try content.validate(maxPayload: Limits.payloadMaximum)
        let id = ActivityID.random
        activities[id] = SimulatedActivity(content: content, needsSave: description.needsSave ?? true)
        return id
    }

    /// Changes an activity.
    /// - Returns: whether the activity exists.
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

    /// Requests a save from the app, if there are unsaved changes.
    /// - Parameter then: called after the save or the timeout.
    func save(_ id: ActivityID, _ then: @escaping () -> Void) {
        if saves[id] != nil { return saves[id, default: []].append(then) }
        guard activities[id]?.needsSave == true else { return then() }
        activities[id]?.needsSave = false
        saves[id] = [then]
        saveTimers[id] = loop.timer(after: Self.saveTimeout) { [weak self] in self?.saved(id) }
        send(.save(id))
    }

    /// Handles the app's reply to a save request.
    func saved(_ id: ActivityID) {
        saveTimers[id] = nil
        for then in saves.removeValue(forKey: id) ?? [] { then() }
    }

    // MARK: Continuing

    func deliver(_ id: ContinuationID, _ content: ContinuedActivity, answer: @escaping (Bool?) -> Void) {
        answers[id] = answer
        send(.continue(id, content))
    }

    /// Handles the app's report of whether it has handled an activity.
    /// - Returns: whether a reply was expected.
    func answered(_ id: ContinuationID, handled: Bool) -> Bool {
        guard let answer = answers.removeValue(forKey: id) else { return false }
        answer(handled)
        return true
    }
}

extension FixedBytes {
    /// A random, unique value.
    static var random: Self { Self(checked: (0..<byteCount).map { _ in .random(in: 0...255) }) }
}
