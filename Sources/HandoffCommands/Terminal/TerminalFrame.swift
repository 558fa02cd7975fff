import HandoffJSON

/// A frame of a shared terminal: a type, the length of the content in 4 bytes, and the content
/// (docs/terminal.md).
struct TerminalFrame: Equatable {
    /// The types that the relay handles. A receiver ignores all others.
    static let hello = UInt8(ascii: "H")
    static let data = UInt8(ascii: "D")
    static let size = UInt8(ascii: "W")
    static let keepAlive = UInt8(ascii: "K")
    static let ready = UInt8(ascii: "R")
    static let exit = UInt8(ascii: "X")

    static let headerSize = 5
    static let maxContent = 65_536

    var kind: UInt8
    var content: [UInt8]

    /// The frame as bytes of a stream.
    var bytes: [UInt8] { Self.header(kind, content.count) + content }

    /// Returns the object in the content.
    func object() throws(TerminalFrames.Malformed) -> JSONObject {
        guard let object = try? JSON(parsing: content, limits: JSONLimits(bytes: Self.maxContent)).object else {
            throw TerminalFrames.Malformed(cause: "a frame without an object")
        }
        return object
    }

    static func header(_ kind: UInt8, _ count: Int) -> [UInt8] {
        let length = UInt32(clamping: count)
        return [
            kind, UInt8(truncatingIfNeeded: length >> 24), UInt8(truncatingIfNeeded: length >> 16),
            UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length),
        ]
    }

    /// Returns bytes as frames of data.
    static func data(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count > maxContent else { return header(data, bytes.count) + bytes }
        return stride(from: 0, to: bytes.count, by: maxContent).flatMap { start in
            let piece = bytes[start..<min(bytes.count, start + maxContent)]
            return header(data, piece.count) + piece
        }
    }
}

/// Splits a stream into frames.
struct TerminalFrames {
    /// The other device has violated the protocol.
    struct Malformed: Error, Equatable {
        let cause: String
    }

    private var received: [UInt8] = []

    /// Returns the frames that are complete.
    mutating func append(_ bytes: [UInt8]) throws(Malformed) -> [TerminalFrame] {
        received += bytes
        var frames: [TerminalFrame] = []
        var start = 0
        while received.count - start >= TerminalFrame.headerSize {
            let length = received[start + 1..<start + TerminalFrame.headerSize].reduce(0) { $0 << 8 | Int($1) }
            guard length <= TerminalFrame.maxContent else { throw Malformed(cause: "a frame of \(length) bytes") }
            let content = start + TerminalFrame.headerSize
            guard received.count - content >= length else { break }
            frames.append(TerminalFrame(kind: received[start], content: Array(received[content..<content + length])))
            start = content + length
        }
        received.removeSubrange(..<start)
        return frames
    }
}
