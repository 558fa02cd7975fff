package import HandoffControl

/// Delays the events of an app until after the replies they may depend on. Both use separate
/// connections, so an event of a newly published activity may be read before the reply that
/// contains the activity's ID.
///
/// A plain value; one for each attachment.
package struct EventOrder {
    private var published = 0
    private var answered = 0
    /// Delayed events, in order, each with the number of replies that must arrive first.
    private var waiting: [(after: Int, event: AppEvent)] = []

    /// Creates the order for a new attachment.
    package init() {}

    /// Records a call of `Publish`.
    package mutating func publishSent() { published += 1 }

    /// Records the reply to the oldest unanswered `Publish`. The daemon replies in the order of the
    /// calls.
    /// - Returns: the events that are now due.
    package mutating func isAnswered() -> [AppEvent] {
        answered += 1
        let due = waiting.prefix { $0.after <= answered }
        waiting.removeFirst(due.count)
        return due.map(\.event)
    }

    /// Records an event.
    /// - Returns: the event; nil if it is delayed.
    package mutating func receive(_ event: AppEvent) -> AppEvent? {
        if answered == published { return event }
        waiting.append((published, event))
        return nil
    }
}
