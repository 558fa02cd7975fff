/// The reading end of one direction in shared memory. Use it on one thread at a time.
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

    /// Returns true if there are bytes to read.
    package func hasBytes() throws(BrokenRing) -> Bool { try available() > 0 }

    /// Returns true if the writer has announced the end and all bytes were read.
    package func isAtEnd() throws(BrokenRing) -> Bool {
        // In this order: when the end is visible, the bytes written before it are visible too.
        guard ring.hasEnded else { return false }
        return try available() == 0
    }

    /// Returns the next bytes, up to the end of the ring. Call `consume` after using them. The peer
    /// may change them at any time: copy bytes that are read more than once.
    package func bytes(upTo limit: Int) throws(BrokenRing) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(ring.bytes(from: read, count: min(limit, try available())))
    }

    /// Releases the room of `count` bytes to the writer.
    /// - Returns: true if the writer waits and its bell must be rung.
    package mutating func consume(_ count: Int) -> Bool {
        read &+= UInt64(count)
        ring.publish(read: read)
        guard let left = try? available(), left <= ring.size / 2 else { return false }
        return ring.takeWaiting(ofReader: false)
    }

    /// Copies as many bytes as are available and fit.
    /// - Returns: their number, and true if the writer's bell must be rung.
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

    /// Announces that the reader is going to wait for its bell.
    /// - Returns: false if there are bytes or the end after all. The bell is not rung then.
    package func wait() throws(BrokenRing) -> Bool {
        ring.waits(true, asReader: true)
        guard !ring.hasEnded, try available() == 0 else {
            ring.waits(false, asReader: true)
            return false
        }
        return true
    }
}
