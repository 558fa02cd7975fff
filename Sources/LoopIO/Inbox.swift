/// The work that other threads submit to a loop, in order of submission, and the state that
/// determines whether the loop must be woken for it.
package final class Inbox: Sendable {
    /// One unit of work for the loop's thread.
    package enum Item: Sendable {
        /// A job of an actor whose executor is the loop.
        case job(UnownedJob)
        /// A closure given to `perform`.
        case work(@Sendable () -> Void)
    }

    private struct State {
        var items: [Item] = []
        var stopRequested = false
        /// The loop waits or is about to wait, so that an addition must wake it. The first addition
        /// clears it, which coalesces wake-ups.
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
    /// - Parameter isOnLoop: returns true on the loop's thread, which checks the inbox before it
    ///   waits.
    /// - Returns: true if the caller must wake the loop.
    package func add(_ item: Item, isOnLoop: () -> Bool) -> Bool {
        state.withLock { state in
            state.items.append(item)
            return state.takeWake(isOnLoop: isOnLoop)
        }
    }

    /// Requests that the loop return from `run`. Returns true if the caller must wake it.
    package func requestStop(isOnLoop: () -> Bool) -> Bool {
        state.withLock { state in
            state.stopRequested = true
            return state.takeWake(isOnLoop: isOnLoop)
        }
    }

    /// Removes and returns all items. Items that are added afterwards belong to the next turn.
    package func take() -> [Item] {
        state.withLock { state in
            state.isWaiting = false
            return state.items.takeAll()
        }
    }

    /// Returns true if the loop may wait for events. From then on `add` reports that the loop must
    /// be woken.
    package func prepareToWait() -> Bool {
        state.withLock { state in
            guard state.items.isEmpty, !state.stopRequested else { return false }
            state.isWaiting = true
            return true
        }
    }

    /// Returns true if a stop was requested, and clears the request.
    package func takeStop() -> Bool {
        state.withLock { state in
            let stop = state.stopRequested
            state.stopRequested = false
            return stop
        }
    }

    /// True while a thread is inside `run`.
    var isRunning: Bool {
        state.withLock { $0.isRunning }
    }

    /// Records the start or end of `run` and calls `body` in the same critical section.
    func setRunning(_ isRunning: Bool, _ body: () -> Void) {
        state.withLock { state in
            state.isRunning = isRunning
            body()
        }
    }
}

extension Array {
    /// Empties the array and returns its former elements.
    fileprivate mutating func takeAll() -> [Element] {
        var taken: [Element] = []
        swap(&taken, &self)
        return taken
    }
}
