/// A parser for stream frames, with a buffer for data that the app has not accepted.
///
/// Frames may arrive in any pieces. The data of many small frames is joined, so that it takes one
/// system call instead of one per frame.
package struct IncomingBytes {
    /// Pieces up to this size are moved to follow the previous one. Larger ones are delivered in
    /// place.
    private static let smallPiece = 16 * 1024

    /// Bytes of data received so far.
    package private(set) var count: UInt64 = 0
    /// Bytes of data delivered so far.
    var delivered: UInt64 = 0
    /// True if the other side has ended its direction.
    private(set) var hasEnded = false
    /// True if the app has been notified of the end.
    private(set) var isEndDelivered = false
    /// The received reset, if any.
    package private(set) var reset: StreamReset?
    /// Bytes of data expected before the next word.
    private(set) var left = 0
    private var word: UInt32 = 0
    private var wordBytes = 0
    private var waiting: [UInt8] = []
    private var waitingStart = 0

    package init() {}

    /// True if bytes are buffered for the app.
    package var isWaiting: Bool { waitingStart < waiting.count }

    /// Parses frames.
    ///
    /// - Parameter bytes: plaintext. The data in it is moved together.
    /// - Returns: the ranges of the data, in order and as long as possible, and whether the input
    ///   follows the protocol. Input after a reset is ignored.
    package mutating func parse(_ bytes: UnsafeMutableRawBufferPointer) -> (data: [Range<Int>], isWhole: Bool) {
        var data: [Range<Int>] = []
        var run = 0..<0
        func flush() {
            if !run.isEmpty { data.append(run) }
            run = 0..<0
        }
        var index = 0
        while index < bytes.count {
            if left > 0 {
                let size = min(left, bytes.count - index)
                if run.isEmpty {
                    run = index..<index + size
                } else if size <= Self.smallPiece, let base = bytes.baseAddress {
                    (base + run.upperBound).copyMemory(from: base + index, byteCount: size)
                    run = run.lowerBound..<run.upperBound + size
                } else {
                    flush()
                    run = index..<index + size
                }
                left -= size
                index += size
                count &+= UInt64(size)
                continue
            }
            word = word << 8 | UInt32(bytes[index])
            wordBytes += 1
            index += 1
            guard wordBytes == StreamWord.byteCount else { continue }
            wordBytes = 0
            switch StreamWord(word) {
            case .data(let size) where !hasEnded: left = size
            case .end where !hasEnded: hasEnded = true
            case .reset(let reset):
                flush()
                self.reset = reset
                return (data, true)
            case .data, .end, nil:
                flush()
                return (data, false)
            }
        }
        flush()
        return (data, true)
    }

    /// Counts bytes of data that were received and delivered without being parsed here, at most
    /// `left`.
    mutating func pass(_ size: Int) {
        left -= size
        count &+= UInt64(size)
        delivered &+= UInt64(size)
    }

    /// Buffers bytes until the app accepts them.
    package mutating func wait(_ bytes: UnsafeRawBufferPointer) {
        if !isWaiting {
            waiting.removeAll(keepingCapacity: true)
            waitingStart = 0
        }
        waiting += bytes
    }

    /// Removes the buffer and returns it with the index of its first byte. Call `putBack`
    /// afterwards.
    package mutating func takeWaiting() -> (bytes: [UInt8], start: Int) {
        let taken = (waiting, waitingStart)
        waiting = []
        waitingStart = 0
        return taken
    }

    /// Restores the buffer, from which the app has accepted everything before `start`.
    package mutating func putBack(_ bytes: consuming [UInt8], from start: Int) {
        waiting = bytes
        waitingStart = start
        guard !isWaiting else { return }
        waiting.removeAll(keepingCapacity: true)
        waitingStart = 0
    }

    /// Returns true once, when the app must be notified of the end.
    package mutating func takeEnd() -> Bool {
        guard hasEnded, !isEndDelivered, !isWaiting else { return false }
        isEndDelivered = true
        return true
    }

    /// Releases the buffer's memory if it is empty.
    package mutating func releaseMemory() {
        if !isWaiting { waiting = [] }
    }
}
