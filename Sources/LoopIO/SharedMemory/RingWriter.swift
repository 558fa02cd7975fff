/// The writing end of one direction in shared memory. Use it on one thread at a time.
package struct RingWriter: ~Copyable {
    /// Keeps the memory mapped.
    private let memory: StreamMemory
    private let ring: RingLayout
    private var written: UInt64 = 0
    private var hasEnded = false

    init(_ memory: StreamMemory, _ ring: RingLayout) {
        self.memory = memory
        self.ring = ring
    }

    /// Returns the number of free bytes.
    private func room() throws(BrokenRing) -> Int {
        let waiting = written &- ring.read
        guard waiting <= UInt64(ring.size) else { throw BrokenRing() }
        return ring.size - Int(waiting)
    }

    /// Returns true if there is enough room to make writing worthwhile. A writer that found less
    /// waits until half of the ring is empty, so that it is not woken for each piece that is read.
    package func hasRoom() throws(BrokenRing) -> Bool { try room() >= ring.size / 4 }

    /// Returns room for the next bytes, up to the end of the ring. Call `publish` after writing.
    /// The peer may change the content at any time.
    package func space(upTo limit: Int) throws(BrokenRing) -> UnsafeMutableRawBufferPointer {
        ring.bytes(from: written, count: min(limit, try room()))
    }

    /// Makes `count` bytes that were written to `space` available to the reader.
    /// - Returns: true if the reader waits and its bell must be rung.
    package mutating func publish(_ count: Int) -> Bool {
        written &+= UInt64(count)
        ring.publish(written: written)
        return ring.takeWaiting(ofReader: true)
    }

    /// Writes as many bytes as there is room for.
    /// - Returns: their number, and true if the reader's bell must be rung.
    package mutating func write(_ bytes: UnsafeRawBufferPointer) throws(BrokenRing) -> (count: Int, rings: Bool) {
        var count = 0
        var rings = false
        // At most twice: up to the end of the ring, and from its start.
        while count < bytes.count {
            let space = try space(upTo: bytes.count - count)
            guard !space.isEmpty else { break }
            space.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[count..<count + space.count]))
            count += space.count
            rings = publish(space.count) || rings
        }
        return (count, rings)
    }

    /// Announces the end of the stream, once.
    /// - Returns: true if the reader's bell must be rung.
    package mutating func end() -> Bool {
        guard !hasEnded else { return false }
        hasEnded = true
        ring.publishEnd()
        return ring.takeWaiting(ofReader: true)
    }

    /// Announces that the writer is going to wait for its bell.
    /// - Returns: false if there is room after all. The bell is not rung then.
    package func wait() throws(BrokenRing) -> Bool {
        ring.waits(true, asReader: false)
        guard try hasRoom() else { return true }
        ring.waits(false, asReader: false)
        return false
    }

    /// Releases the memory of the ring if the reader has read everything. The ring remains usable.
    package func releaseMemory() {
        if let room = try? room(), room == ring.size { ring.empty() }
    }
}
