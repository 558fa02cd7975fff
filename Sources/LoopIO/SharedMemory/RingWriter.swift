/// The writing end of a direction in shared memory. One thread at a time.
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

    /// Bytes for which there is room.
    private func room() throws(BrokenRing) -> Int {
        let waiting = written &- ring.read
        guard waiting <= UInt64(ring.size) else { throw BrokenRing() }
        return ring.size - Int(waiting)
    }

    /// Whether there is so much room that writing pays: a writer that found less waits until half of the ring is empty, so that it is
    /// not woken for each piece that is read.
    package func hasRoom() throws(BrokenRing) -> Bool { try room() >= ring.size / 4 }

    /// Room for the next bytes, as far as it stands side by side; `publish` follows. The other side may change what is there at
    /// any time.
    package func space(upTo most: Int) throws(BrokenRing) -> UnsafeMutableRawBufferPointer {
        ring.bytes(from: written, count: min(most, try room()))
    }

    /// Lets the reader have so many bytes that were written into `space`.
    /// - Returns: whether the reader waits, and its bell is to be rung.
    package mutating func publish(_ count: Int) -> Bool {
        written &+= UInt64(count)
        ring.publish(written: written)
        return ring.takeWaiting(ofReader: true)
    }

    /// Writes as many bytes as there is room for.
    /// - Returns: how many, and whether the reader's bell is to be rung.
    package mutating func write(_ bytes: UnsafeRawBufferPointer) throws(BrokenRing) -> (count: Int, rings: Bool) {
        var count = 0
        var rings = false
        // Twice at most: to the end of the ring, and from its beginning on.
        while count < bytes.count {
            let space = try space(upTo: bytes.count - count)
            guard !space.isEmpty else { break }
            space.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[count..<count + space.count]))
            count += space.count
            rings = publish(space.count) || rings
        }
        return (count, rings)
    }

    /// Says that nothing follows; once.
    /// - Returns: whether the reader's bell is to be rung.
    package mutating func end() -> Bool {
        guard !hasEnded else { return false }
        hasEnded = true
        ring.publishEnd()
        return ring.takeWaiting(ofReader: true)
    }

    /// Says that the writer is going to wait for its bell.
    /// - Returns: false when there is room after all, and no bell is rung.
    package func wait() throws(BrokenRing) -> Bool {
        ring.waits(true, asReader: false)
        guard try hasRoom() else { return true }
        ring.waits(false, asReader: false)
        return false
    }

    /// Gives the memory of the ring back if the reader has read everything. It serves again.
    package func releaseMemory() {
        if let room = try? room(), room == ring.size { ring.empty() }
    }
}
