package import HandoffControl

/// Puts the events of an app behind the answers that they may tell of: both come over connections of their own, and an event of an
/// activity that has just been published may be read before the answer that says the activity's id.
///
/// A plain value; one for each attachment.
package struct EventOrder {
    private var asked = 0
    private var answered = 0
    /// Events that wait, in their order, and the number of calls that are to be answered before.
    private var waiting: [(after: Int, event: AppEvent)] = []

    /// The order of an attachment that has just been made.
    package init() {}

    /// `Publish` is called.
    package mutating func publishes() { asked += 1 }

    /// The oldest `Publish` without an answer has got one; the daemon answers in the order of the calls.
    /// - Returns: the events that follow.
    package mutating func isAnswered() -> [AppEvent] {
        answered += 1
        let due = waiting.prefix { $0.after <= answered }
        waiting.removeFirst(due.count)
        return due.map(\.event)
    }

    /// An event has come.
    /// - Returns: the event; nil for one that waits.
    package mutating func came(_ event: AppEvent) -> AppEvent? {
        if answered == asked { return event }
        waiting.append((asked, event))
        return nil
    }
}
