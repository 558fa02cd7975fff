/// Takes stream frames apart, and keeps what the app has not taken yet.
///
/// Frames may be cut in any way. Data of many small frames is gathered, so that it costs one system call and not one each.
struct IncomingBytes {
    /// Pieces up to this size are moved behind the one before; larger ones are handed on where they are.
    private static let smallPiece = 16 * 1024

    /// Bytes of data that came so far.
    private(set) var count: UInt64 = 0
    /// Whether the other side's direction has ended.
    private(set) var hasEnded = false
    /// Whether the app was told of the end.
    private(set) var isEndDelivered = false
    /// The reset that came.
    private(set) var reset: StreamReset?
    private var left = 0
    private var word: UInt32 = 0
    private var wordBytes = 0
    private var waiting: [UInt8] = []
    private var waitingStart = 0

    /// Whether bytes wait for the app.
    var isWaiting: Bool { waitingStart < waiting.count }

    /// Reads frames.
    ///
    /// - Parameters:
    ///   - bytes: plaintext; it is overwritten on the way.
    ///   - give: is lent the data, in order, in pieces as long as possible.
    /// - Returns: false when the other side broke the protocol. After a reset the rest is not looked at.
    mutating func parse(_ bytes: UnsafeMutableRawBufferPointer, give: (UnsafeRawBufferPointer) -> Void) -> Bool {
        var run = 0..<0
        func flush() {
            if !run.isEmpty { give(UnsafeRawBufferPointer(rebasing: bytes[run])) }
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
                return true
            case .data, .end, nil: return false
            }
        }
        flush()
        return true
    }

    /// Keeps bytes until the app takes them.
    mutating func wait(_ bytes: UnsafeRawBufferPointer) {
        if !isWaiting {
            waiting.removeAll(keepingCapacity: true)
            waitingStart = 0
        }
        waiting += bytes
    }

    /// Lends what waits to `take`, which returns how much of it was taken.
    mutating func drain(_ take: (UnsafeRawBufferPointer) -> Int) {
        guard isWaiting else { return }
        waitingStart += waiting.withUnsafeBytes { take(UnsafeRawBufferPointer(rebasing: $0[waitingStart...])) }
        if !isWaiting {
            waiting.removeAll(keepingCapacity: true)
            waitingStart = 0
        }
    }

    /// Whether the app is to be told now, and once, that nothing more comes.
    mutating func takeEnd() -> Bool {
        guard hasEnded, !isEndDelivered, !isWaiting else { return false }
        isEndDelivered = true
        return true
    }

    /// Gives memory back that is empty.
    mutating func releaseMemory() {
        if !isWaiting { waiting = [] }
    }
}
