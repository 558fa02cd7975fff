/// Bytes that wait until a descriptor takes them, in order. A plain value.
package struct WriteQueue {
    /// When a writer should pause, in bytes that wait: above `high`, until no more than `low` wait.
    package struct Marks: Sendable {
        package var low: Int
        package var high: Int

        package init(low: Int = 64 * 1024, high: Int = 256 * 1024) {
            self.low = low
            self.high = high
        }
    }

    /// Small writes are joined up to this size, so that a system call carries many of them; larger ones stay as they
    /// are and are not copied.
    private static let joinedSize = 64 * 1024

    private let marks: Marks
    private var chunks: [[UInt8]] = []
    /// The first chunk with bytes to send; those before are empty and wait for the next tidying.
    private var head = 0
    /// Bytes of the first chunk that are sent.
    private var offset = 0

    /// Bytes that wait.
    package private(set) var count = 0

    /// Whether more than the high mark waits, or did, and `takeDrained` has not said since that it has fallen.
    package private(set) var isAboveHigh = false

    package init(marks: Marks = Marks()) {
        self.marks = marks
    }

    /// Whether nothing waits.
    package var isEmpty: Bool { count == 0 }

    /// Adds bytes at the end, without the first `skipped` of them.
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

    /// Offers the first bytes to `send` until the queue is empty or `send` takes fewer than it was offered.
    /// - Parameter send: returns how many bytes it took.
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

    /// Whether what waits has fallen from above the high mark to the low one; said once.
    package mutating func takeDrained() -> Bool {
        guard isAboveHigh, count <= marks.low else { return false }
        isAboveHigh = false
        return true
    }

    /// Forgets what waits.
    package mutating func removeAll() {
        removeAll(keepingCount: false)
    }

    /// A queue that is never empty must not keep a place for each chunk that it ever had.
    private mutating func tidy() {
        guard head > 32, head > chunks.count / 2 else { return }
        chunks.removeFirst(head)
        head = 0
    }

    private mutating func removeAll(keepingCount: Bool) {
        // Few chunks are kept for reuse; a long queue gives its memory back.
        chunks.removeAll(keepingCapacity: chunks.count <= 16)
        head = 0
        offset = 0
        if !keepingCount { count = 0 }
    }
}
