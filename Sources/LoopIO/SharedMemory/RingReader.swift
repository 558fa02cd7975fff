/// The reading end of a direction in shared memory. One thread at a time.
package struct RingReader: ~Copyable {
    /// Keeps the memory mapped.
    private let memory: StreamMemory
    private let ring: RingLayout
    private var read: UInt64 = 0

    init(_ memory: StreamMemory, _ ring: RingLayout) {
        self.memory = memory
        self.ring = ring
    }

    private func available() throws(BrokenRing) -> Int {
        let waiting = ring.written &- read
        guard waiting <= UInt64(ring.size) else { throw BrokenRing() }
        return Int(waiting)
    }

    /// Whether bytes are there.
    package func hasBytes() throws(BrokenRing) -> Bool { try available() > 0 }

    /// Whether the writer has said that nothing follows, and nothing is left.
    package func isAtEnd() throws(BrokenRing) -> Bool {
        // In this order: what was written before the end is seen once the end is.
        guard ring.hasEnded else { return false }
        return try available() == 0
    }

    /// The next bytes, as far as they stand side by side; `consume` follows. The other side may change them at any time: what
    /// is to be looked at twice has to be copied.
    package func bytes(upTo most: Int) throws(BrokenRing) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(ring.bytes(from: read, count: min(most, try available())))
    }

    /// Lets the writer have the room of so many bytes.
    /// - Returns: whether the writer waits, and its bell is to be rung.
    package mutating func consume(_ count: Int) -> Bool {
        read &+= UInt64(count)
        ring.publish(read: read)
        guard let left = try? available(), left <= ring.size / 2 else { return false }
        return ring.takeWaiting(ofReader: false)
    }

    /// Copies bytes, as many as are there and fit.
    /// - Returns: how many, and whether the writer's bell is to be rung.
    package mutating func read(into target: UnsafeMutableRawBufferPointer) throws(BrokenRing) -> (
        count: Int, rings: Bool
    ) {
        var count = 0
        var rings = false
        while count < target.count {
            let bytes = try bytes(upTo: target.count - count)
            guard !bytes.isEmpty else { break }
            UnsafeMutableRawBufferPointer(rebasing: target[count...]).copyMemory(from: bytes)
            count += bytes.count
            rings = consume(bytes.count) || rings
        }
        return (count, rings)
    }

    /// Says that the reader is going to wait for its bell.
    /// - Returns: false when there are bytes or the end after all, and no bell is rung.
    package func wait() throws(BrokenRing) -> Bool {
        ring.waits(true, asReader: true)
        guard !ring.hasEnded, try available() == 0 else {
            ring.waits(false, asReader: true)
            return false
        }
        return true
    }
}
