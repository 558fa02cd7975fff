import HandoffControl
import HandoffJSON
import HandoffModel
import Testing

/// An app that is attached to the daemon of a device.
final class TestApp {
    let session: String
    private let device: TestDevice
    private let events: OpenCall

    init(_ device: TestDevice, _ events: OpenCall) throws {
        self.device = device
        self.events = events
        guard case .attached(let session) = try AppEvent(json: try events.result()) else {
            throw UnexpectedEvent()
        }
        self.session = session
    }

    /// Returns the next event.
    func next(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> AppEvent {
        try AppEvent(json: try events.result(sourceLocation))
    }

    /// The number of unread events.
    var waiting: Int { events.waiting }

    /// Returns the continuation of the next event, which must be `willContinue`.
    func willContinue(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> ContinuationID {
        let event = try next(sourceLocation)
        guard case .willContinue(let id, _, _) = event else { throw UnexpectedEvent(event) }
        return id
    }

    /// Returns the failure of the next event, which must be `didFail` for `id`.
    func didFail(
        _ id: ContinuationID, _ sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> HandoffFailure {
        let event = try next(sourceLocation)
        guard case .didFail(id, _, let failure) = event else { throw UnexpectedEvent(event) }
        return failure
    }

    /// Returns the content of the next event, which must be `continue` for `id`.
    func content(
        _ id: ContinuationID, _ sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> ContinuedActivity {
        let event = try next(sourceLocation)
        guard case .continue(id, let content) = event else { throw UnexpectedEvent(event) }
        return content
    }

    /// Returns the activity of the next event, which must be a save request.
    func save(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> ActivityID {
        let event = try next(sourceLocation)
        guard case .save(let id, _) = event else { throw UnexpectedEvent(event) }
        return id
    }

    /// Declares the types that it continues from now on.
    func declare(_ types: String...) throws {
        let types = try types.map { try #require(ActivityType($0)) }
        _ = try device.open(AppMethod.declare.rawValue, DeclareRequest(session: session, types: types).json).result()
    }

    /// Declares a type that it continues, from these versions of the app at the origin.
    func declare(_ type: String, _ range: VersionRange) throws {
        let type = try #require(ActivityType(type))
        let request = DeclareRequest(
            session: session, types: [type], versions: [TypeVersions(type: type, range)])
        _ = try device.open(AppMethod.declare.rawValue, request.json).result()
    }

    /// Publishes an activity that is not yet current.
    func publish(_ activity: ActivityDescription) throws -> ActivityID {
        let reply = try device.open(
            AppMethod.publish.rawValue, ["session": .string(session), "activity": .object(activity.json)]
        ).result()
        guard case .published(let id, _) = try AppEvent(json: reply) else { throw UnexpectedEvent() }
        return id
    }

    /// Publishes an activity and makes it current.
    func engage(_ activity: ActivityDescription) throws -> ActivityID {
        let id = try publish(activity)
        try call(.becomeCurrent, id)
        return id
    }

    func call(_ method: AppMethod, _ activity: ActivityID, change: ActivityChange? = nil) throws {
        var parameters: JSONObject = ["session": .string(session), "activity": .string(activity.hex)]
        parameters["change"] = change.map { .object($0.json) }
        _ = try device.open(method.rawValue, parameters).result()
    }

    func answer(_ id: ContinuationID, handled: Bool, failure: String? = nil) throws {
        var answer: JSONObject = [
            "session": .string(session), "continuation": .string(id.hex), "handled": .bool(handled),
        ]
        answer["failure"] = failure.map { .string($0) }
        _ = try device.open(AppMethod.answerContinue.rawValue, answer).result()
    }

    /// Closes the connection, as if the program was killed.
    func crash() { events.close() }
}
