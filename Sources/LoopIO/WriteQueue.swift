/// Bytes that wait until a descriptor accepts them, in order. A plain value.
package struct WriteQueue {
    /// Queue sizes in bytes for flow control. A writer should pause above `high`, until the queue
    /// has fallen to `low`.
    package struct Marks: Sendable {
        package var low: Int
        package var high: Int

        package init(low: Int = 64 * 1024, high: Int = 256 * 1024) {
            self.low = low
            self.high = high
        }
    }

    /// Small writes are joined up to this size, so that one system call carries many of them.
    /// Larger writes are neither joined nor copied.
    private static let joinedSize = 64 * 1024

    private let marks: Marks
    private var chunks: [[UInt8]] = []
    /// The index of the first chunk with bytes to send. Those before are empty until `tidy` removes
    /// them.
    private var head = 0
    /// The number of bytes of the first chunk that were sent.
    private var offset = 0

    /// The number of queued bytes.
    package private(set) var count = 0

    /// True from the time the queue exceeds the high mark until `takeDrained` has returned true.
    private(set) var isAboveHigh = false

    package init(marks: Marks = Marks()) {
        self.marks = marks
    }

    package var isEmpty: Bool { count == 0 }

    /// Appends `bytes` without the first `skipped` bytes.
    package mutating func append(_ bytes: [UInt8], skipping skipped: Int = 0) {
        let added = bytes.count - skipped
        guard added > 0 else { return }
        count += added
        if count > marks.high { isAboveHigh = true }
        if let last = chunks.indices.last, last >= head, chunks[last].count + added <= Self.joinedSize {
            chunks[last].append(contentsOf: bytes[skipped...])
        } else if head == chunks.count {
            removeAll(keepingCount: true)
            chunks.append(bytes)
            offset = skipped
        } else {
            chunks.append(skipped == 0 ? bytes : Array(bytes[skipped...]))
        }
    }

    /// Passes the first bytes to `send` until the queue is empty or `send` accepts only a part.
    /// - Parameter send: returns how many bytes it accepted.
    package mutating func drain<Failure: Error>(_ send: (UnsafeRawBufferPointer) throws(Failure) -> Int) throws(Failure)
    {
        while head < chunks.count {
            let offset = self.offset
            let size = chunks[head].count - offset
            // Typed throws do not pass through withUnsafeBytes.
            let result = chunks[head].withUnsafeBytes { bytes -> Result<Int, Failure> in
                do throws(Failure) {
                    return .success(try send(UnsafeRawBufferPointer(rebasing: bytes[offset...])))
                } catch {
                    return .failure(error)
                }
            }
            let taken = try result.get()
            count -= taken
            guard taken == size else {
                self.offset += taken
                tidy()
                return
            }
            chunks[head] = []
            head += 1
            self.offset = 0
        }
        removeAll()
    }

    /// Returns true once after the queue has fallen from above the high mark to the low mark.
    mutating func takeDrained() -> Bool {
        guard isAboveHigh, count <= marks.low else { return false }
        isAboveHigh = false
        return true
    }

    /// Discards the queued bytes.
    package mutating func removeAll() {
        removeAll(keepingCount: false)
    }

    /// Removes empty chunks, because a queue that is never empty would keep them.
    private mutating func tidy() {
        guard head > 32, head > chunks.count / 2 else { return }
        chunks.removeFirst(head)
        head = 0
    }

    private mutating func removeAll(keepingCount: Bool) {
        // Keep the capacity for a few chunks; release the memory of a long queue.
        chunks.removeAll(keepingCapacity: chunks.count <= 16)
        head = 0
        offset = 0
        if !keepingCount { count = 0 }
    }
}
