/// What the other side sent and nobody has taken yet: frames, chunks, or bytes that are content.
///
/// Lengths are judged before anything is kept for them. Counts how many bytes of the direction were taken.
struct TransferInput: Sendable {
    private var buffer: [UInt8] = []
    /// Index of the first byte of `buffer` that was not taken.
    private var start = 0
    /// What is left of the chunk that has begun.
    private var chunkLeft = 0

    /// Bytes of the stream's direction that were taken, those included that a passed file has received.
    private(set) var position: Int64 = 0

    /// Bytes that were not taken.
    var buffered: Int { buffer.count &- start }

    /// Adds what the connection delivered.
    mutating func append(_ bytes: some Sequence<UInt8>) {
        buffer.append(contentsOf: bytes)
    }

    /// Counts bytes that went to a passed file instead of to us.
    mutating func skip(_ count: Int64) {
        position &+= count
    }

    /// Takes the next whole frame, or nil when more bytes are needed.
    mutating func nextFrame() throws(TransferFailure) -> TransferFrame? {
        guard let length = word() else { return nil }
        guard (1...TransferLimits.frame).contains(length) else { throw .malformed("a message of \(length) bytes") }
        guard buffered &- 4 >= length else { return nil }
        let body = buffer[(start &+ 4)..<(start &+ 4 &+ length)]
        let frame = try TransferFrame(decoding: body)
        take(4 &+ length)
        return frame
    }

    /// What the next bytes of a chunked content are.
    enum Content: Sendable, Equatable {
        /// Bytes of it.
        case bytes([UInt8])
        /// There is no more.
        case end
    }

    /// Takes what is there of the present chunk, or nil when more bytes are needed.
    mutating func nextContent() throws(TransferFailure) -> Content? {
        if chunkLeft == 0 {
            guard let length = word() else { return nil }
            guard length <= TransferLimits.chunk else { throw .malformed("a chunk of \(length) bytes") }
            take(4)
            if length == 0 { return .end }
            chunkLeft = length
        }
        guard let bytes = takeRaw(limit: Int64(chunkLeft)) else { return nil }
        chunkLeft &-= bytes.count
        return .bytes(bytes)
    }

    /// Takes bytes that are no frames, at most `limit`; nil when there are none.
    mutating func takeRaw(limit: Int64) -> [UInt8]? {
        let count = Int(min(Int64(buffered), limit))
        guard count > 0 else { return nil }
        let bytes = Array(buffer[start..<(start &+ count)])
        take(count)
        return bytes
    }

    private func word() -> Int? {
        guard buffered >= 4 else { return nil }
        return buffer[start..<(start &+ 4)].reduce(0) { $0 << 8 | Int($1) }
    }

    private mutating func take(_ count: Int) {
        start &+= count
        position &+= Int64(count)
        // Taken bytes are dropped together, so that many small messages cost one move.
        if start == buffer.count {
            buffer.removeAll(keepingCapacity: buffer.count <= TransferLimits.frame)
            start = 0
        } else if start > TransferLimits.frame {
            buffer.removeFirst(start)
            start = 0
        }
    }
}
