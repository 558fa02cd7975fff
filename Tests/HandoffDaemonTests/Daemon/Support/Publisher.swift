import HandoffControl
import HandoffModel
import Testing

/// An activity that was published without an app. It ends with its connection.
final class Publisher {
    let activity: ActivityID
    /// The advice for the developer.
    let advice: String?
    private let events: OpenCall

    init(_ events: OpenCall) throws {
        self.events = events
        guard case .published(let id, let advice) = try AppEvent(json: try events.result()) else {
            throw UnexpectedEvent()
        }
        activity = id
        self.advice = advice
    }

    func next(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> AppEvent {
        try AppEvent(json: try events.result(sourceLocation))
    }

    /// The number of unread events.
    var waiting: Int { events.waiting }

    /// Withdraws the activity.
    func close() { events.close() }
}
