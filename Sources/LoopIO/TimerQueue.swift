package import Timing

/// Armed timers in order of deadline, and of arming when deadlines are equal. A plain value: it reads no clock.
package struct TimerQueue<Payload> {
    /// One arming of a timer; never reused.
    package struct Token: Hashable {
        fileprivate let sequence: UInt64
    }

    private struct Entry {
        let deadline: MonotonicInstant
        let sequence: UInt64

        static func < (left: Entry, right: Entry) -> Bool {
            (left.deadline, left.sequence) < (right.deadline, right.sequence)
        }
    }

    private struct Armed {
        let payload: Payload
        let accuracy: Duration
    }

    /// A binary heap, smallest first. Removed timers stay in it until they surface or outnumber the others.
    private var heap: [Entry] = []
    private var armed: [UInt64: Armed] = [:]
    private var nextSequence: UInt64 = 0

    package init() {}

    /// Places in use, for the test of the bound on them.
    package var storedEntries: Int { heap.count }

    /// The number of armed timers.
    package var count: Int { armed.count }

    /// Arms a timer.
    package mutating func add(_ payload: Payload, at deadline: MonotonicInstant, accuracy: Duration) -> Token {
        let sequence = nextSequence
        nextSequence += 1
        armed[sequence] = Armed(payload: payload, accuracy: accuracy)
        heap.append(Entry(deadline: deadline, sequence: sequence))
        siftUp(heap.count - 1)
        return Token(sequence: sequence)
    }

    /// Disarms a timer; one that has fired is left alone.
    package mutating func remove(_ token: Token) {
        guard armed.removeValue(forKey: token.sequence) != nil else { return }
        // A connection that re-arms its idle timer at each message must not grow the heap for an hour.
        if heap.count > 64, heap.count > 2 * armed.count {
            heap = heap.filter { armed[$0.sequence] != nil }.sorted(by: <)
        }
    }

    /// When the first timer is due and how late it may fire, or nil when none is armed.
    package mutating func earliest() -> (deadline: MonotonicInstant, accuracy: Duration)? {
        dropRemoved()
        guard let first = heap.first, let timer = armed[first.sequence] else { return nil }
        return (first.deadline, timer.accuracy)
    }

    /// A mark that separates the timers armed so far from later ones.
    package var mark: Token { Token(sequence: nextSequence) }

    /// Takes the first timer that is due at `now` and was armed before `mark`.
    package mutating func popDue(at now: MonotonicInstant, before mark: Token) -> Payload? {
        dropRemoved()
        // A timer armed since the mark is no earlier than those before it, except for one in the past; both wait.
        guard let first = heap.first, first.deadline <= now, first.sequence < mark.sequence else { return nil }
        removeFirst()
        return armed.removeValue(forKey: first.sequence)?.payload
    }

    private mutating func dropRemoved() {
        while let first = heap.first, armed[first.sequence] == nil {
            removeFirst()
        }
    }

    private mutating func removeFirst() {
        guard let last = heap.popLast(), !heap.isEmpty else { return }
        heap[0] = last
        siftDown()
    }

    private mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child] < heap[parent] else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func siftDown() {
        var parent = 0
        while true {
            let left = 2 * parent + 1
            guard left < heap.count else { return }
            let right = left + 1
            let child = right < heap.count && heap[right] < heap[left] ? right : left
            guard heap[child] < heap[parent] else { return }
            heap.swapAt(child, parent)
            parent = child
        }
    }
}
