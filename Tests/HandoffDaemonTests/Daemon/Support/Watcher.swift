import HandoffControl
import Testing

/// A client that follows the offers.
final class Watcher {
    private let events: OpenCall

    init(_ events: OpenCall) {
        self.events = events
    }

    /// Events that came and were not looked at.
    var waiting: Int { events.waiting }

    func next(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> WatchEvent {
        try WatchEvent(json: try events.result(sourceLocation))
    }

    /// The next event, which must say that an offer was added.
    func added(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> ControlActivity {
        let event = try next(sourceLocation)
        guard case .added(let offer) = event else { throw UnexpectedEvent(event) }
        return offer
    }

    /// The next event, which must say that an offer was removed.
    func removed(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> ControlActivity {
        let event = try next(sourceLocation)
        guard case .removed(let offer) = event else { throw UnexpectedEvent(event) }
        return offer
    }

    /// Takes the next event, which must be `ready`.
    func ready(_ sourceLocation: SourceLocation = #_sourceLocation) throws {
        let event = try next(sourceLocation)
        guard case .ready = event else { throw UnexpectedEvent(event) }
    }
}
