import HandoffControl
import Testing

/// A client that watches the offers.
final class Watcher {
    private let events: OpenCall

    init(_ events: OpenCall) {
        self.events = events
    }

    /// The number of unread events.
    var waiting: Int { events.waiting }

    func next(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> WatchEvent {
        try WatchEvent(json: try events.result(sourceLocation))
    }

    /// Returns the offer of the next event, which must be `added`.
    func added(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> OfferedActivity {
        let event = try next(sourceLocation)
        guard case .added(let offer) = event else { throw UnexpectedEvent(event) }
        return offer
    }

    /// Returns the offer of the next event, which must be `removed`.
    func removed(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> OfferedActivity {
        let event = try next(sourceLocation)
        guard case .removed(let offer) = event else { throw UnexpectedEvent(event) }
        return offer
    }

    /// Reads the next event, which must be `ready`.
    func ready(_ sourceLocation: SourceLocation = #_sourceLocation) throws {
        let event = try next(sourceLocation)
        guard case .ready = event else { throw UnexpectedEvent(event) }
    }
}
