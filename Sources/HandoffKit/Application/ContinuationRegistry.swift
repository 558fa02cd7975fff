import HandoffControl
import HandoffModel

/// What an app is told of continuations, in order: after each `willContinue` exactly one of `continue` and `didFail`. A plain
/// value; the daemon keeps that order too, and its end in the middle of a continuation is a failure here.
struct ContinuationRegistry: Sendable {
    /// What the app is told.
    enum Delivery: Equatable, Sendable {
        case willContinue(ContinuationID, ActivityType)
        case `continue`(ContinuationID, ContinuedActivity)
        case didFail(ContinuationID, ActivityType, HandoffError)
    }

    /// Continuations that were announced, in order, and are not decided.
    private var announced: [(id: ContinuationID, type: ActivityType, device: String)] = []

    /// No continuation is on its way.
    init() {}

    /// An activity of this type is on its way.
    mutating func willContinue(_ id: ContinuationID, _ type: ActivityType, device: String) -> [Delivery] {
        guard !announced.contains(where: { $0.id == id }) else { return [] }
        announced.append((id, type, device))
        return [.willContinue(id, type)]
    }

    /// It has arrived.
    mutating func arrived(_ id: ContinuationID, _ content: ContinuedActivity) -> [Delivery] {
        let wasAnnounced = take(id) != nil
        return (wasAnnounced ? [] : [.willContinue(id, content.type)]) + [.continue(id, content)]
    }

    /// It does not come. Nothing is said of one that was not announced, or has arrived.
    mutating func failed(_ id: ContinuationID, _ error: HandoffError) -> [Delivery] {
        take(id).map { [.didFail(id, $0, error)] } ?? []
    }

    /// The connection to the daemon has ended.
    mutating func lost() -> [Delivery] {
        defer { announced = [] }
        return announced.map { .didFail($0.id, $0.type, .lostWhileContinuing(from: VisibleText.escape($0.device))) }
    }

    private mutating func take(_ id: ContinuationID) -> ActivityType? {
        guard let place = announced.firstIndex(where: { $0.id == id }) else { return nil }
        return announced.remove(at: place).type
    }
}
