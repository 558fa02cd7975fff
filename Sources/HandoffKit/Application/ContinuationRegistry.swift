import HandoffControl
import HandoffModel

/// Orders the continuation events for an app: each `willContinue` is followed by exactly one
/// `continue` or `didFail`. A plain value. The daemon keeps the same order. If the daemon ends
/// during a continuation, a failure is delivered.
struct ContinuationRegistry: Sendable {
    enum Delivery: Equatable, Sendable {
        case willContinue(ContinuationID, ActivityType)
        case `continue`(ContinuationID, ContinuedActivity)
        case didFail(ContinuationID, ActivityType, HandoffError)
    }

    /// Announced continuations that are still pending, in order.
    private var announced: [(id: ContinuationID, type: ActivityType, device: String)] = []

    init() {}

    /// Records that an activity of this type is being sent.
    mutating func willContinue(_ id: ContinuationID, _ type: ActivityType, device: String) -> [Delivery] {
        guard !announced.contains(where: { $0.id == id }) else { return [] }
        announced.append((id, type, device))
        return [.willContinue(id, type)]
    }

    mutating func arrived(_ id: ContinuationID, _ content: ContinuedActivity) -> [Delivery] {
        let wasAnnounced = take(id) != nil
        return (wasAnnounced ? [] : [.willContinue(id, content.type)]) + [.continue(id, content)]
    }

    /// Records that the continuation has failed. Returns nothing for one that was not announced or
    /// has arrived.
    mutating func failed(_ id: ContinuationID, _ error: HandoffError) -> [Delivery] {
        take(id).map { [.didFail(id, $0, error)] } ?? []
    }

    /// Records that the connection to the daemon has ended.
    mutating func lost() -> [Delivery] {
        defer { announced = [] }
        return announced.map { .didFail($0.id, $0.type, .lostWhileContinuing(from: VisibleText.escape($0.device))) }
    }

    private mutating func take(_ id: ContinuationID) -> ActivityType? {
        guard let place = announced.firstIndex(where: { $0.id == id }) else { return nil }
        return announced.remove(at: place).type
    }
}
