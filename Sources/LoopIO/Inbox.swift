/// What other threads want a loop to do, in the order in which they asked, and whether the loop must be woken for it.
package final class Inbox: Sendable {
    /// One thing to do on the loop's thread.
    package enum Item: Sendable {
        /// A job of an actor whose executor is the loop.
        case job(UnownedJob)
        /// A closure given to `perform`.
        case work(@Sendable () -> Void)
    }

    private struct State {
        var items: [Item] = []
        var stopRequested = false
        /// Whether the loop waits or is about to, so that somebody must wake it. Cleared by the first who does:
        /// wake-ups are coalesced.
        var isWaiting = false
        var isRunning = false

        mutating func takeWake(isOnLoop: () -> Bool) -> Bool {
            guard isWaiting, !isOnLoop() else { return false }
            isWaiting = false
            return true
        }
    }

    private let state = Locked(State())

    package init() {}

    /// Adds an item.
    /// - Parameter isOnLoop: whether the caller is the loop's thread, which looks here before it waits.
    /// - Returns: whether the caller has to wake the loop.
    package func add(_ item: Item, isOnLoop: () -> Bool) -> Bool {
        state.withLock { state in
            state.items.append(item)
            return state.takeWake(isOnLoop: isOnLoop)
        }
    }

    /// Asks the loop to return from `run`. Returns whether the caller has to wake it.
    package func requestStop(isOnLoop: () -> Bool) -> Bool {
        state.withLock { state in
            state.stopRequested = true
            return state.takeWake(isOnLoop: isOnLoop)
        }
    }

    /// Takes everything that waits; what is added meanwhile belongs to the next turn.
    package func take() -> [Item] {
        state.withLock { state in
            state.isWaiting = false
            return state.items.takeAll()
        }
    }

    /// Whether the loop may wait for events; from then on `add` answers that it must be woken.
    package func prepareToWait() -> Bool {
        state.withLock { state in
            guard state.items.isEmpty, !state.stopRequested else { return false }
            state.isWaiting = true
            return true
        }
    }

    /// Whether a stop was requested; the request is used up.
    package func takeStop() -> Bool {
        state.withLock { state in
            let stop = state.stopRequested
            state.stopRequested = false
            return stop
        }
    }

    /// Whether a thread is inside `run`.
    package var isRunning: Bool {
        state.withLock { $0.isRunning }
    }

    /// Marks the start or end of `run` and calls `body` in the same critical section.
    package func setRunning(_ isRunning: Bool, _ body: () -> Void) {
        state.withLock { state in
            state.isRunning = isRunning
            body()
        }
    }
}

extension Array {
    /// Empties the array and returns what was in it.
    fileprivate mutating func takeAll() -> [Element] {
        var taken: [Element] = []
        swap(&taken, &self)
        return taken
    }
}
