package import Timing

/// Armed timers in order of deadline, and of arming when deadlines are equal. A plain value: it reads no clock.
package struct TimerQueue<Payload> {
    /// One arming of a timer; never reused.
    package struct Token: Hashable {
        fileprivate let sequence: UInt64
    }

    /// By deadline. Removed timers stay in both heaps until they surface or outnumber the others.
    private var deadlines = InstantHeap()
    /// By the latest moment at which a timer may fire: its deadline and its accuracy.
    private var latest = InstantHeap()
    private var armed: [UInt64: Payload] = [:]
    private var nextSequence: UInt64 = 0

    package init() {}

    /// Places in use, for the test of the bound on them.
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

    /// Disarms a timer; one that has fired is left alone.
    package mutating func remove(_ token: Token) {
        guard armed.removeValue(forKey: token.sequence) != nil else { return }
        // A connection that re-arms its idle timer at each message must not grow the heap for an hour.
        if storedEntries > 64, storedEntries > 2 * armed.count {
            deadlines.keep { armed[$0] != nil }
            latest.keep { armed[$0] != nil }
        }
    }

    /// When the first timer is due, and how much later it may fire so that no timer fires later than its own accuracy allows; nil
    /// when none is armed.
    package mutating func earliest() -> (deadline: MonotonicInstant, accuracy: Duration)? {
        guard let first = deadlines.first(where: { armed[$0] != nil }), let last = latest.first(where: { armed[$0] != nil })
        else { return nil }
        return (first.instant, first.instant.duration(to: last.instant))
    }

    /// A mark that separates the timers armed so far from later ones.
    package var mark: Token { Token(sequence: nextSequence) }

    /// Takes the first timer that is due at `now` and was armed before `mark`.
    package mutating func popDue(at now: MonotonicInstant, before mark: Token) -> Payload? {
        // A timer armed since the mark is no earlier than those before it, except for one in the past; both wait.
        guard let first = deadlines.first(where: { armed[$0] != nil }), first.instant <= now,
            first.sequence < mark.sequence
        else { return nil }
        return armed.removeValue(forKey: first.sequence)
    }
}

/// A binary heap of moments, the first one on top, in the order of adding where they are equal.
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

    /// The first entry for which this holds; those before it are dropped.
    mutating func first(where isKept: (UInt64) -> Bool) -> Entry? {
        while let first = heap.first {
            if isKept(first.sequence) { return first }
            removeFirst()
        }
        return nil
    }

    /// Drops the entries for which this does not hold.
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
