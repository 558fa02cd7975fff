/// A buffer for received bytes that have not been consumed: frames, chunks or raw content.
///
/// Lengths are validated before anything is buffered for them. Counts the consumed bytes of the
/// direction.
struct TransferInput: Sendable {
    private var buffer: [UInt8] = []
    /// The index of the first unconsumed byte of `buffer`.
    private var start = 0
    /// Remaining bytes of the current chunk.
    private var chunkLeft = 0

    /// Consumed bytes of the stream's direction, including those written directly to a passed file.
    private(set) var position: Int64 = 0

    /// The number of unconsumed bytes.
    var buffered: Int { buffer.count &- start }

    /// Appends received bytes.
    mutating func append(_ bytes: some Sequence<UInt8>) {
        buffer.append(contentsOf: bytes)
    }

    /// Counts bytes that were written directly to a passed file.
    mutating func skip(_ count: Int64) {
        position &+= count
    }

    /// Consumes the next frame. Returns nil if more bytes are needed.
    mutating func nextFrame() throws(TransferFailure) -> TransferFrame? {
        guard let length = word() else { return nil }
        guard (1...TransferLimits.frame).contains(length) else { throw .malformed("a message of \(length) bytes") }
        guard buffered &- 4 >= length else { return nil }
        let body = buffer[(start &+ 4)..<(start &+ 4 &+ length)]
        let frame = try TransferFrame(decoding: body)
        take(4 &+ length)
        return frame
    }

    /// The next piece of chunked content.
    enum Content: Sendable, Equatable {
        case bytes([UInt8])
        /// The content is complete.
        case end
    }

    /// Consumes the available bytes of the current chunk. Returns nil if more bytes are needed.
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

    /// Consumes at most `limit` bytes that are not frames. Returns nil if there are none.
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
        // Consumed bytes are removed in batches, so that many small messages cost only one move.
        if start == buffer.count {
            buffer.removeAll(keepingCapacity: buffer.count <= TransferLimits.frame)
            start = 0
        } else if start > TransferLimits.frame {
            buffer.removeFirst(start)
            start = 0
        }
    }
}
