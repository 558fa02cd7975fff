/// Cuts a stream of bytes into frames; lengths are judged by the caps of the present state before anything is kept
/// for them.
///
/// Bytes are judged when they are taken out, not when they arrive: what a client sends behind its statements is read
/// under the caps that hold after the merge.
package struct FrameDecoder: Sendable {
    private var buffer: [UInt8] = []

    /// Index of the first byte of `buffer` that belongs to no frame yet.
    private var start = 0

    /// The caps of the present state.
    package private(set) var caps: FrameCaps

    /// Consumed bytes are dropped from the front above this size, so that many small frames cost one move.
    private static let compactionThreshold = 64 * 1024

    /// Starts empty under `caps`.
    package init(caps: FrameCaps) {
        self.caps = caps
    }

    /// Bytes that have arrived and belong to no frame yet.
    package var buffered: Int {
        buffer.count &- start
    }

    /// Changes what is taken from now on, for frames that have arrived already too.
    package mutating func allow(_ caps: FrameCaps) {
        self.caps = caps
    }

    /// Adds what the connection delivered.
    package mutating func append(_ bytes: some Collection<UInt8>) {
        buffer.append(contentsOf: bytes)
    }

    /// Takes the next whole frame, or nil when more bytes are needed.
    ///
    /// Throws as soon as the length or the kind is known to be unacceptable; the connection must then be closed.
    package mutating func next() throws(FrameError) -> Frame? {
        var reader = ByteReader(buffer[start...])
        guard let length = try? reader.u32() else { return nil }  // Too few bytes is the only error here.
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

/// Why the bytes of a connection are no acceptable frame; each ends the connection.
package enum FrameError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The length is 0, so that there is not even a kind.
    case empty

    /// The length is above every cap of this state, or above that of its kind.
    case tooLong(length: UInt32)

    /// This state takes no frame of this kind.
    case notAllowed(code: UInt8)

    /// A lower-case fragment for logs.
    package var description: String {
        switch self {
        case .empty: "frame without a kind"
        case .tooLong(let length): "frame of \(length) bytes is too long here"
        case .notAllowed(let code): "frame of kind \(code) is not allowed here"
        }
    }
}
