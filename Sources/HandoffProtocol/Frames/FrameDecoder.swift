/// Splits a stream of bytes into frames. Lengths are checked against the limits of the current
/// state before memory is reserved for them.
///
/// Bytes are checked when they are decoded, not when they arrive: bytes that follow a client's
/// statements are read under the limits that apply after the merge.
package struct FrameDecoder: Sendable {
    private var buffer: [UInt8] = []

    /// The index of the first byte of `buffer` that belongs to no frame yet.
    private var start = 0

    package private(set) var caps: FrameCaps

    /// The size above which consumed bytes are removed from the front, so that many small frames
    /// cost one move.
    private static let compactionThreshold = 64 * 1024

    /// Creates an empty decoder with the limits `caps`.
    package init(caps: FrameCaps) {
        self.caps = caps
    }

    /// The number of received bytes that belong to no frame yet.
    package var buffered: Int {
        buffer.count &- start
    }

    /// Changes the limits, including for frames that have already arrived.
    package mutating func allow(_ caps: FrameCaps) {
        self.caps = caps
    }

    package mutating func append(_ bytes: some Collection<UInt8>) {
        buffer.append(contentsOf: bytes)
    }

    /// Returns the next complete frame, or nil if more bytes are needed.
    ///
    /// Throws as soon as the length or the kind is known to be invalid. The connection must then be
    /// closed.
    package mutating func next() throws(FrameError) -> Frame? {
        var reader = ByteReader(buffer[start...])
        guard let length = try? reader.u32() else { return nil }  // The only possible error is too few bytes.
        guard length > 0 else { throw .empty }
        let bodyCount = Int(length) &- 1
        guard let maximum = caps.maxBody, bodyCount <= maximum else { throw .tooLong(length: length) }
        guard let code = try? reader.u8() else { return nil }
        guard let cap = caps.maxBody(code: code) else { throw .notAllowed(code: code) }
        guard bodyCount <= cap else { throw .tooLong(length: length) }
        guard let body = try? reader.bytes(bodyCount) else { return nil }
        start &+= Frame.headerCount &+ bodyCount
        compact()
        return Frame(code: code, body: body)
    }

    private mutating func compact() {
        if start == buffer.count {
            buffer.removeAll(keepingCapacity: buffer.count <= Self.compactionThreshold)
            start = 0
        } else if start > Self.compactionThreshold {
            buffer.removeFirst(start)
            start = 0
        }
    }
}

/// The reason why the bytes of a connection are not a valid frame. Each error ends the connection.
package enum FrameError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The length is 0, so the frame has no kind.
    case empty

    /// The length exceeds every limit of this state, or the limit of its kind.
    case tooLong(length: UInt32)

    /// This state accepts no frame of this kind.
    case notAllowed(code: UInt8)

    /// A lower-case sentence fragment for logs.
    package var description: String {
        switch self {
        case .empty: "frame without a kind"
        case .tooLong(let length): "frame of \(length) bytes exceeds the limit"
        case .notAllowed(let code): "frame of kind \(code) is not allowed in this state"
        }
    }
}
