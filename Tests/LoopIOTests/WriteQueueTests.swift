import HandoffTestSupport
import LoopIO
import Testing

struct WriteQueueTests {
    /// Accepts up to `room` bytes at a time.
    private func drain(_ queue: inout WriteQueue, room: Int, into taken: inout [UInt8]) {
        queue.drain { bytes in
            let count = min(room, bytes.count)
            taken += bytes.prefix(count)
            return count
        }
    }

    @Test(arguments: [1, 7, 100, 65_536, 1_000_000])
    func `keeps the order for any number of accepted bytes`(_ room: Int) {
        var queue = WriteQueue()
        var written: [UInt8] = []
        var taken: [UInt8] = []
        for size in [1, 3, 70_000, 5, 65_536, 200, 0, 9] {
            let bytes = pattern(size).map { $0 ^ UInt8(truncatingIfNeeded: size) }
            queue.append(bytes)
            written += bytes
            drain(&queue, room: room, into: &taken)
            #expect(queue.count == written.count - taken.count)
        }
        while !queue.isEmpty { drain(&queue, room: room, into: &taken) }
        #expect(taken == written)
    }

    @Test func `skips bytes that were already sent`() {
        var queue = WriteQueue()
        var taken: [UInt8] = []
        queue.append([1, 2, 3, 4], skipping: 2)
        queue.append([5, 6], skipping: 1)
        queue.append([7], skipping: 1)
        #expect(queue.count == 3)
        drain(&queue, room: 10, into: &taken)
        #expect(taken == [3, 4, 6])
        #expect(queue.isEmpty)
    }

    @Test func `joins small writes`() {
        var queue = WriteQueue()
        for _ in 0..<1_000 { queue.append([1, 2, 3]) }
        var calls = 0
        queue.drain { bytes in
            calls += 1
            return bytes.count
        }
        #expect(calls == 1)
    }

    @Test func `after an error the queue can be emptied`() {
        var queue = WriteQueue()
        queue.append([1, 2, 3])
        #expect(throws: Errno.brokenPipe) {
            try queue.drain { _ throws(Errno) in throw .brokenPipe }
        }
        queue.removeAll()
        #expect(queue.isEmpty)
        var taken: [UInt8] = []
        queue.append([9])
        drain(&queue, room: 5, into: &taken)
        #expect(taken == [9])
    }

    @Test func `a queue that is never empty continues to work`() {
        var queue = WriteQueue()
        var taken = 0
        let block = pattern(70_000)
        queue.append(block)
        for _ in 0..<1_000 {
            queue.append(block)
            var budget = 70_000
            queue.drain { bytes in
                let count = min(budget, bytes.count)
                budget -= count
                taken += count
                return count
            }
        }
        #expect(taken == 70_000_000)
        #expect(queue.count == 70_000)
    }
}
