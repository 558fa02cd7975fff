import HandoffControl

/// Actions of a machine that were not performed yet, in order. Messages that follow each other become one write.
struct ActionQueue {
    /// Larger writes are not made by joining, in bytes.
    private static let joinedSize = 64 * 1024

    private var actions: [VarlinkServerMachine.Action] = []
    /// The first that was not taken; those before are forgotten when the last one is taken.
    private var head = 0

    /// Whether the only action is to serve a call, so that it can wait.
    var isDispatchAlone: Bool {
        guard head + 1 == actions.count, case .dispatch = actions[head] else { return false }
        return true
    }

    mutating func append(_ new: [VarlinkServerMachine.Action]) {
        actions += new
    }

    /// Takes the first action, together with the messages that follow if it is one.
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
