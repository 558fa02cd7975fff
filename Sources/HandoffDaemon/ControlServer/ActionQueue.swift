import HandoffControl

/// Pending actions of a machine, in order. Consecutive messages are combined into one write.
struct ActionQueue {
    /// Maximum size of a combined write, in bytes.
    private static let joinedSize = 64 * 1024

    private var actions: [VarlinkServerMachine.Action] = []
    /// The index of the first pending action. Earlier ones are removed with the last one.
    private var head = 0

    /// True if the only pending action is to serve a call, which can be delayed.
    var isDispatchAlone: Bool {
        guard head + 1 == actions.count, case .dispatch = actions[head] else { return false }
        return true
    }

    mutating func append(_ new: [VarlinkServerMachine.Action]) {
        actions += new
    }

    /// Removes and returns the first action. If it is a message, combines it with those that
    /// follow.
    mutating func next() -> VarlinkServerMachine.Action? {
        guard let action = takeFirst() else { return nil }
        guard case .send(var joined) = action, head > 0 else { return action }
        while head > 0, case .send(let more) = actions[head], joined.count + more.count <= Self.joinedSize {
            joined += more
            _ = takeFirst()
        }
        return .send(joined)
    }

    private mutating func takeFirst() -> VarlinkServerMachine.Action? {
        guard head < actions.count else { return nil }
        let action = actions[head]
        head += 1
        if head == actions.count {
            actions.removeAll(keepingCapacity: head <= 16)
            head = 0
        }
        return action
    }
}
