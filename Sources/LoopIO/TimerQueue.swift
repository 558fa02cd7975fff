package import HandoffModel

/// Armed timers in order of deadline, then of arming. A plain value that reads no clock.
package struct TimerQueue<Payload> {
    /// Identifies one arming of a timer. Never reused.
    package struct Token: Hashable {
        fileprivate let sequence: UInt64
    }

    /// Timers by deadline. Removed timers stay in both heaps until they reach the top or outnumber
    /// the armed ones.
    private var deadlines = InstantHeap()
    /// Timers by deadline plus accuracy.
    private var latest = InstantHeap()
    private var armed: [UInt64: Payload] = [:]
    private var nextSequence: UInt64 = 0

    package init() {}

    /// Entries in the larger heap, to test its limit.
    package var storedEntries: Int { max(deadlines.count, latest.count) }

    /// The number of armed timers.
    package var count: Int { armed.count }

    /// Arms a timer.
    package mutating func add(_ payload: Payload, at deadline: MonotonicInstant, accuracy: Duration) -> Token {
        let sequence = nextSequence
        nextSequence += 1
        armed[sequence] = payload
        deadlines.add(deadline, sequence)
        latest.add(deadline + accuracy, sequence)
        return Token(sequence: sequence)
    }

    /// Disarms a timer. Does nothing if it has fired.
    package mutating func remove(_ token: Token) {
        guard armed.removeValue(forKey: token.sequence) != nil else { return }
        // Limits the heap's size if a connection re-arms an idle timer of an hour at each message.
        if storedEntries > 64, storedEntries > 2 * armed.count {
            deadlines.keep { armed[$0] != nil }
            latest.keep { armed[$0] != nil }
        }
    }

    /// Returns the deadline of the first timer, and the maximum delay with which no timer fires
    /// later than its own accuracy allows. Returns nil if none is armed.
    package mutating func earliest() -> (deadline: MonotonicInstant, accuracy: Duration)? {
        guard let first = deadlines.first(where: { armed[$0] != nil }),
            let last = latest.first(where: { armed[$0] != nil })
        else { return nil }
        return (first.instant, first.instant.duration(to: last.instant))
    }

    /// A token that separates the timers armed so far from later ones.
    package var mark: Token { Token(sequence: nextSequence) }

    /// Removes and returns the first timer that is due at `now` and was armed before `mark`.
    package mutating func popDue(at now: MonotonicInstant, before mark: Token) -> Payload? {
        // A timer armed since the mark precedes earlier ones only if its deadline is in the past.
        // Then all of them wait.
        guard let first = deadlines.first(where: { armed[$0] != nil }), first.instant <= now,
            first.sequence < mark.sequence
        else { return nil }
        return armed.removeValue(forKey: first.sequence)
    }
}

/// A binary min-heap of instants. Equal instants keep the order in which they were added.
private struct InstantHeap {
    struct Entry {
        let instant: MonotonicInstant
        let sequence: UInt64

        static func < (left: Entry, right: Entry) -> Bool {
            (left.instant, left.sequence) < (right.instant, right.sequence)
        }
    }

    private var heap: [Entry] = []

    var count: Int { heap.count }

    mutating func add(_ instant: MonotonicInstant, _ sequence: UInt64) {
        heap.append(Entry(instant: instant, sequence: sequence))
        siftUp(heap.count - 1)
    }

    /// Returns the first entry that satisfies `isKept`, after removing those before it.
    mutating func first(where isKept: (UInt64) -> Bool) -> Entry? {
        while let first = heap.first {
            if isKept(first.sequence) { return first }
            removeFirst()
        }
        return nil
    }

    /// Removes the entries that do not satisfy `isKept`.
    mutating func keep(where isKept: (UInt64) -> Bool) {
        heap = heap.filter { isKept($0.sequence) }.sorted(by: <)
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
