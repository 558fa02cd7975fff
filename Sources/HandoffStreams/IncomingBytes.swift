/// Takes stream frames apart, and keeps what the app has not taken yet.
///
/// Frames may be cut in any way. Data of many small frames is gathered, so that it costs one system call and not one each.
package struct IncomingBytes {
    /// Pieces up to this size are moved behind the one before; larger ones are handed on where they are.
    private static let smallPiece = 16 * 1024

    /// Bytes of data that came so far.
    package private(set) var count: UInt64 = 0
    /// Bytes of data that were handed on so far.
    package var delivered: UInt64 = 0
    /// Whether the other side's direction has ended.
    package private(set) var hasEnded = false
    /// Whether the app was told of the end.
    package private(set) var isEndDelivered = false
    /// The reset that came.
    package private(set) var reset: StreamReset?
    /// Bytes of data that are to come before the next word.
    package private(set) var left = 0
    private var word: UInt32 = 0
    private var wordBytes = 0
    private var waiting: [UInt8] = []
    private var waitingStart = 0

    /// Nothing has come.
    package init() {}

    /// Whether bytes wait for the app.
    package var isWaiting: Bool { waitingStart < waiting.count }

    /// Reads frames.
    ///
    /// - Parameter bytes: plaintext; the data in it is moved together.
    /// - Returns: where the data is now, in order, in pieces as long as possible, and whether the other side kept to the
    ///   protocol. After a reset the rest is not looked at.
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

    /// So many bytes of data came and were handed on, and were never here; at most `left`.
    package mutating func pass(_ size: Int) {
        left -= size
        count &+= UInt64(size)
        delivered &+= UInt64(size)
    }

    /// Keeps bytes until the app takes them.
    package mutating func wait(_ bytes: UnsafeRawBufferPointer) {
        if !isWaiting {
            waiting.removeAll(keepingCapacity: true)
            waitingStart = 0
        }
        waiting += bytes
    }

    /// Hands out all that waits, with its memory, and where it begins there; `putBack` follows.
    package mutating func takeWaiting() -> (bytes: [UInt8], start: Int) {
        let taken = (waiting, waitingStart)
        waiting = []
        waitingStart = 0
        return taken
    }

    /// Takes back what was handed out, of which the app has taken all before `start`.
    package mutating func putBack(_ bytes: consuming [UInt8], from start: Int) {
        waiting = bytes
        waitingStart = start
        guard !isWaiting else { return }
        waiting.removeAll(keepingCapacity: true)
        waitingStart = 0
    }

    /// Whether the app is to be told now, and once, that nothing more comes.
    package mutating func takeEnd() -> Bool {
        guard hasEnded, !isEndDelivered, !isWaiting else { return false }
        isEndDelivered = true
        return true
    }

    /// Gives memory back that is empty.
    package mutating func releaseMemory() {
        if !isWaiting { waiting = [] }
    }
}
